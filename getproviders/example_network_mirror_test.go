package getproviders_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// A network mirror may have packages of any host's providers. This one has one of them, and the
// registry isn't asked for the others.
func ExampleMultiSource() {
	documents := map[string]string{
		"/providers/example.com/acme/widget/index.json": `{"versions": {"1.0.0": {}, "1.1.0": {}}}`,
		"/providers/example.com/acme/widget/1.1.0.json": `{"archives": {"linux_amd64": {"url": "widget.zip"}}}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		document, ok := documents[req.URL.Path]
		if !ok {
			http.NotFound(w, req)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, document)
	}))
	defer server.Close()

	product := getproviders.Terraform("1.15.9")
	mirror, err := getproviders.NewNetworkMirrorSource(server.URL+"/providers/", server.Client(), nil, product)
	if err != nil {
		fmt.Println(err)
		return
	}
	acme, err := product.ParsePattern("example.com/acme/*")
	if err != nil {
		fmt.Println(err)
		return
	}
	source := getproviders.MultiSource{
		Selectors: []getproviders.Selector{
			{Source: mirror, Include: []getproviders.Pattern{acme}},
			{Source: &getproviders.RegistrySource{Product: product}, IsRegistry: true},
		},
		Fallback: getproviders.Exclusive,
	}

	ctx := context.Background()
	linux := getproviders.Platform{OS: "linux", Arch: "amd64"}
	for _, address := range []string{"example.com/acme/widget", "example.com/acme/gadget"} {
		p, err := product.ParseProvider(address)
		if err != nil {
			fmt.Println(err)
			return
		}
		available, err := source.Versions(ctx, p)
		if err != nil {
			fmt.Println(strings.ReplaceAll(err.Error(), server.URL, "http://MIRROR"))
			continue
		}
		newest, _ := getproviders.Constraints{}.Newest(available.Versions)
		found, err := source.Package(ctx, p, newest, linux)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(found.Version, "at", strings.Replace(found.Location.String(), server.URL, "http://MIRROR", 1))
	}
	// Output:
	// 1.1.0 at http://MIRROR/providers/example.com/acme/widget/widget.zip
	// provider example.com/acme/gadget was not found in any of the search locations
	//
	//   - provider mirror at http://MIRROR/providers/: does not have the provider
	//   - registry example.com: kept out, because mirrors are exclusive and there is one for this provider: provider mirror at http://MIRROR/providers/
}
