// Command company installs from a company's internal registry, which has a
// certificate of the company's own CA and requires a token.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

func main() {
	if err := install(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func install(ctx context.Context, args []string) error {
	if len(args) != 4 {
		return errors.New("usage: company ADDRESS DIRECTORY CA-FILE TOKEN")
	}
	product := getproviders.Terraform("1.15.9")
	provider, err := product.ParseProvider(args[0])
	if err != nil {
		return err
	}
	transport, err := trusting(args[2])
	if err != nil {
		return err
	}
	client, err := getproviders.NewClient(getproviders.ClientOptions{UserAgent: "company", Retries: 1, Base: transport})
	if err != nil {
		return err
	}
	// The token goes to the registry's API, and nowhere else.
	tokens := getproviders.NewStaticTokens(map[getproviders.Hostname]string{provider.Hostname: args[3]})
	installer := &providercache.Installer{
		Fetcher: &providercache.Fetcher{
			Source: &getproviders.RegistrySource{
				Client: client, Discovery: &getproviders.Discovery{Client: client, Credentials: tokens},
				Credentials: tokens, Product: product,
			},
			Client:  client,
			Product: product,
		},
		Target: &providercache.Store{Dir: filepath.Join(args[1], ".terraform", "providers")},
	}
	ready, err := installer.Ensure(ctx, provider, getproviders.Constraints{})
	if err == nil {
		fmt.Println(ready.Provider, ready.Version)
	}
	return err
}

// trusting returns a transport that trusts the CA certificates in a file.
func trusting(caFile string) (*http.Transport, error) {
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s has no certificate", caFile)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	return transport, nil
}
