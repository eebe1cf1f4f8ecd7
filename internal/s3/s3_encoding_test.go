package s3

import (
	"errors"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/storagetest"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// TestPut_EncodesNothing writes to a service other than Amazon's: what it gets is the object's bytes as they are, which
// it may keep and serve.
func TestPut_EncodesNothing(t *testing.T) {
	t.Parallel()
	server := storagetest.StartVersity(t, "bucket")
	puts := 0
	client := &http.Client{Transport: storagetest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPut {
			puts++
			if got := r.Header.Get("Content-Encoding"); got != "" || r.ContentLength != 7 {
				return nil, errors.New("it is encoded as " + got)
			}
		}
		return http.DefaultTransport.RoundTrip(r)
	})}
	b := must.Get(New(t.Context(), Options{Bucket: "bucket", Region: storagetest.VersityRegion, Endpoint: server.Endpoint, Client: client,
		Credentials: credentials.NewStaticCredentialsProvider(storagetest.VersityID, storagetest.VersitySecret, "")}))(t)
	must.Get(b.Put(t.Context(), "a.zip", blob.Bytes([]byte("archive")), blob.PutOptions{ContentType: "application/zip"}))(t)
	must.Equal(t, puts, 1, "written times")
}
