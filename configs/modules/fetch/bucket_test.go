package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// newBucket serves objects as s3 does, without looking at who asks.
func newBucket(t testing.TB, objects map[string]string) *providertest.Server {
	t.Helper()
	server, err := providertest.NewServer(providertest.ServerOptions{Plain: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.URL.Path, "/bucket/")
		if r.URL.Query().Get("list-type") == "2" {
			fmt.Fprint(w, `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>false</IsTruncated>`)
			for name := range objects {
				if strings.HasPrefix(name, r.URL.Query().Get("prefix")) {
					fmt.Fprintf(w, `<Contents><Key>%s</Key></Contents>`, name)
				}
			}
			fmt.Fprint(w, `</ListBucketResult>`)
			return
		}
		content, found := objects[key]
		if !found {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `<Error><Code>NoSuchKey</Code><Message>no</Message></Error>`)
			return
		}
		fmt.Fprint(w, content)
	})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

func TestFetch_ObjectsOfAService(t *testing.T) {
	t.Parallel()
	objects := map[string]string{"net.zip": string(zipped(t, someTree)), "net/../../evil": ""}
	for name, content := range someTree {
		objects["dir/"+name] = content
	}
	s := newBucket(t, objects)
	at := "s3::" + s.BaseURL() + "/bucket/"
	const login = "?aws_access_key_id=id&aws_access_key_secret=hunter2&region=eu-west-1"
	f := &Fetcher{}
	defer f.Close()
	sameTree(t, fetched(t, f, get(at+"net.zip"+login)), below(someTree, ""))
	sameTree(t, fetched(t, f, get(at+"dir"+login)), below(someTree, ""))
	for path, want := range map[string]error{"other.zip": ErrNotFound, "other": ErrNotFound, "net.zip/../evil": nil} {
		err := refused(t, f, at+path+login)
		if want != nil && !errors.Is(err, want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", path, err)
		}
	}
	small := &Fetcher{bounds: bounds{download: 50}}
	defer small.Close()
	if err := refused(t, small, at+"net.zip"+login); !strings.Contains(err.Error(), "larger than 50 bytes") {
		t.Error(err)
	}
	if err := refused(t, f, "gcs::https://example.com/net.zip"); !strings.Contains(err.Error(), "GCS") {
		t.Error(err)
	}
}
