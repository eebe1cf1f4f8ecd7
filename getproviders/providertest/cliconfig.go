package providertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// WriteCLIConfig writes a CLI configuration file that redirects the providers
// of hosts to this registry.
func (r *Registry) WriteCLIConfig(path string, hosts ...string) error {
	var text strings.Builder
	for _, host := range hosts {
		fmt.Fprintf(&text, "host %q {\n  services = {\n    \"providers.v1\" = %q\n  }\n}\n", host, r.ServiceURL())
	}
	return os.WriteFile(path, []byte(text.String()), 0o600)
}

// Env writes the CA's certificate and a CLI configuration into dir, which has
// to exist, and returns the environment variables that make a real terraform
// (or a program like it) use them: hosts, and Host itself, are this registry.
// Go reads SSL_CERT_FILE on neither macOS nor Windows: a program that does no
// more than Go does can't be tested there with it.
func (r *Registry) Env(dir string, hosts ...string) ([]string, error) {
	ca := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, r.caPEM, 0o600); err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "cli.tfrc")
	if err := r.WriteCLIConfig(config, hosts...); err != nil {
		return nil, err
	}
	return []string{"SSL_CERT_FILE=" + ca, "TF_CLI_CONFIG_FILE=" + config, "CHECKPOINT_DISABLE=1"}, nil
}
