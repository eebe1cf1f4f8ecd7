package storagetest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/providertest"
)

// StartS3 starts a fake of S3 that ends with the test. It has one bucket, "bucket", with these objects, lists two of them per page, and refuses
// unsigned requests. The content of a version is the object's content, "@" and the version.
func StartS3(t testing.TB, objects map[string]string) *providertest.Server {
	t.Helper()
	server, err := providertest.NewServer(providertest.ServerOptions{Plain: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		content, found := objects[strings.TrimPrefix(r.URL.Path, "/bucket/")]
		switch {
		case !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="):
			w.WriteHeader(http.StatusForbidden)
		case query.Get("list-type") == "2":
			listS3(w, objects, query.Get("prefix"), query.Get("continuation-token"))
		case !found:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `<Error><Code>NoSuchKey</Code><Message>no</Message></Error>`)
		case query.Has("versionId"):
			content += "@" + query.Get("versionId")
			fallthrough
		default:
			fmt.Fprint(w, content)
		}
	})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// listS3 sends a page of a list, which begins after the key behind.
func listS3(w http.ResponseWriter, objects map[string]string, prefix, behind string) {
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(objects)), func(key string) bool { return !strings.HasPrefix(key, prefix) || key <= behind })
	more := len(keys) > 2
	fmt.Fprintf(w, `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>%t</IsTruncated>`, more)
	if more {
		keys = keys[:2]
		fmt.Fprintf(w, "<NextContinuationToken>%s</NextContinuationToken>", keys[1])
	}
	for _, key := range keys {
		fmt.Fprintf(w, "<Contents><Key>%s</Key></Contents>", key)
	}
	fmt.Fprint(w, "</ListBucketResult>")
}
