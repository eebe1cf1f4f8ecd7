package hosts_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"time"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// One client for the whole program, and a document that is loaded with it.
func ExampleGetDocument() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello, %s", r.UserAgent())
	}))
	defer srv.Close()

	client, err := hosts.NewClient(hosts.ClientOptions{
		UserAgent:     "my-tool/1.0",
		Retries:       2,
		HeaderTimeout: 5 * time.Second,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.CloseIdleConnections()

	at, err := url.Parse(srv.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	doc, err := hosts.GetDocument(context.Background(), client, hosts.DocumentRequest{
		URL: at, MaxRedirects: 10, MaxBytes: 1 << 20,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(doc.Status)
	fmt.Printf("%s\n", doc.Body)
	// Output:
	// 200 OK
	// hello, my-tool/1.0
}

// The services of a host may be forced, as a host block of the CLI
// configuration does; then no request is made.
func ExampleDiscovery_Service() {
	host, err := hosts.ParseHostname("registry.example.com")
	if err != nil {
		fmt.Println(err)
		return
	}
	discovery := &hosts.Discovery{
		Client: http.DefaultClient,
		Forced: map[hosts.Hostname]map[string]string{
			host: {"providers.v1": "/api/providers/"},
		},
	}
	base, err := discovery.Service(context.Background(), host, "providers.v1")
	fmt.Println(base, err)
	_, err = discovery.Service(context.Background(), host, "modules.v1")
	fmt.Println(err)
	// Output:
	// https://registry.example.com/api/providers/ <nil>
	// host registry.example.com does not offer the service modules.v1
}
