package providertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// WriteCLIConfig writes a CLI configuration file that redirects the providers
// and modules of hosts to this registry.
func (r *Registry) WriteCLIConfig(path string, hosts ...string) error {
	return os.WriteFile(path, []byte(r.hostBlocks(hosts)), 0o600)
}

func (r *Registry) hostBlocks(hosts []string) string {
	var text strings.Builder
	for _, host := range hosts {
		fmt.Fprintf(&text, "host %q {\n  services = {\n    \"modules.v1\" = %q\n    \"providers.v1\" = %q\n  }\n}\n",
			host, r.ModulesURL(), r.ServiceURL())
	}
	return text.String()
}

// Env is Environ with a CLI configuration that redirects hosts, and Host itself, to this registry.
func (r *Registry) Env(dir string, hosts ...string) ([]string, error) {
	return r.Environ(dir, r.hostBlocks(hosts))
}

// Env is Environ with a CLI configuration that installs everything from this mirror.
func (m *Mirror) Env(dir string) ([]string, error) {
	return m.Environ(dir, fmt.Sprintf("provider_installation {\n  network_mirror {\n    url = %q\n  }\n}\n", m.URL()))
}

// Environ writes the CA's certificate and a CLI configuration into dir, which must exist, and
// returns the environment variables that make a real terraform (or a program like it) use them.
// Other certificates, of which a machine may have hundreds to parse, aren't used. Go doesn't read
// SSL_CERT_FILE on macOS and Windows: a program that relies on Go for it can't be tested there.
func (s *Server) Environ(dir, cliConfig string) ([]string, error) {
	ca := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, s.CAPEM(), 0o600); err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "cli.tfrc")
	if err := os.WriteFile(config, []byte(cliConfig), 0o600); err != nil {
		return nil, err
	}
	return []string{"SSL_CERT_FILE=" + ca, "SSL_CERT_DIR=" + dir, "TF_CLI_CONFIG_FILE=" + config, "CHECKPOINT_DISABLE=1"}, nil
}
