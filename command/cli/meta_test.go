package cli

import (
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestMeta_UserAgentEndsAsTheEnvironmentSays(t *testing.T) {
	t.Parallel()
	product := getproviders.Terraform("1.15.9")
	for more, want := range map[string]string{"": "Terraform/1.15.9 tfdeps/dev", "mine/1 (x)": "Terraform/1.15.9 tfdeps/dev mine/1 (x)"} {
		m := &Meta{Version: "dev", Env: Environment{"TF_APPEND_USER_AGENT=" + more}}
		must.Equal(t, m.UserAgent(product), want, more)
	}
}
