package getproviders_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// oddRegistry is a registry with one deviation.
type oddRegistry struct {
	sums   string               // the signed list; "" means the true one
	signer *providertest.Signer // nil means the registry's
	keys   []providertest.Key   // nil means the signer's
}

// oddChecksumLists contain the placeholder SUMS for the true list, or parts of it, or all of it in another
// form.
func oddChecksumLists() map[string]oddRegistry {
	const line = "0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f  extra.zip\n"
	return map[string]oddRegistry{
		"nothing odd":           {sums: "SUMS"},
		"other files listed":    {sums: "SUMS" + line},
		"three fields":          {sums: line[:64] + " a b\nSUMS"},
		"upper case":            {sums: "UPPER" + "REST"},
		"upper case elsewhere":  {sums: "SUMS" + strings.ToUpper(line)},
		"carriage returns":      {sums: "CRLF"},
		"binary marker":         {sums: "BINARY"},
		"not listed":            {sums: line},
		"a comment first":       {sums: "# made by hand\nSUMS"},
		"a comment last":        {sums: "SUMS# made by hand\n"},
		"a short hash first":    {sums: line[60:] + "SUMS"},
		"a short hash last":     {sums: "SUMS" + line[60:]},
		"one word on a line":    {sums: "SUMSword\n"},
		"another hash first":    {sums: line[:64] + "REST" + "SUMS"},
		"a malformed one first": {sums: "xx" + "REST" + "SUMS"},
	}
}

func oddSigners(t *testing.T) map[string]oddRegistry {
	longAgo := time.Now().AddDate(-1, 0, 0)
	fresh := func(opts providertest.SignerOptions) *providertest.Signer {
		return providertest.NewSigner(opts)
	}
	one, other := fresh(providertest.SignerOptions{}), fresh(providertest.SignerOptions{})
	revoked := fresh(providertest.SignerOptions{})
	revoked.Revoke()
	expired := fresh(providertest.SignerOptions{Created: longAgo, Lifetime: time.Hour})
	lapsing := fresh(providertest.SignerOptions{Created: longAgo, SignedAt: longAgo, SignatureLifetime: time.Hour})
	broken := providertest.Key{Armored: "broken"}
	trusted := func(trust string) []providertest.Key {
		return []providertest.Key{{Armored: one.Armored(), TrustSignature: trust}}
	}
	return map[string]oddRegistry{
		"expired key":             {signer: expired},
		"expired signature":       {signer: lapsing},
		"revoked key":             {signer: revoked},
		"no keys":                 {keys: []providertest.Key{}},
		"another key":             {keys: []providertest.Key{other.Key()}},
		"two keys":                {signer: one, keys: []providertest.Key{other.Key(), one.Key()}},
		"revoked key of two":      {signer: revoked, keys: []providertest.Key{other.Key(), revoked.Key()}},
		"broken key first":        {signer: one, keys: []providertest.Key{broken, one.Key()}},
		"broken key second":       {signer: one, keys: []providertest.Key{one.Key(), broken}},
		"trust by just any user":  {signer: one, keys: trusted(other.TrustSignature(one))},
		"trust signature is none": {signer: one, keys: trusted("yes")},
	}
}

// TestAuthenticate_AgreesWithTerraform lets Terraform install from odd registries, and compares the
// results: whether the package is accepted, the printed key ID, the locked hashes.
func TestAuthenticate_AgreesWithTerraform(t *testing.T) {
	t.Parallel()
	terraform := peertest.LookTerraform(t)
	cases := oddChecksumLists()
	maps.Copy(cases, oddSigners(t))
	for name, odd := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peertest.PeerCase(t, t.Name())
			r := startOdd(t, odd)
			ours, ourErr := authenticateFrom(t, r)
			output, locked, ok := terraformInstall(t, terraform, r)
			if ok != (ourErr == nil) {
				t.Fatalf("we say: %v\nterraform says:\n%s", ourErr, output)
			}
			if ok && !strings.Contains(output, "(self-signed, key ID "+ours.KeyID+")") {
				t.Errorf("terraform doesn't print key ID %s:\n%s", ours.KeyID, output)
			}
			must.EqualSlices(t, hashing.Sort(ours.Signed), locked)
		})
	}
}

// startOdd starts a registry with one version for two platforms.
func startOdd(t *testing.T, odd oddRegistry) *providertest.Registry {
	t.Helper()
	var opts providertest.Options
	if odd.sums != "" {
		opts.EditSums = func(list []byte) []byte {
			sums := string(list)
			return []byte(strings.NewReplacer(
				"SUMS", sums, "UPPER", strings.ToUpper(sums[:64]), "REST", sums[64:], "CRLF", strings.ReplaceAll(sums, "\n", "\r\n"), "BINARY", strings.ReplaceAll(sums, "  ", " *"),
			).Replace(odd.sums))
		}
	}
	r := must.Get(providertest.NewRegistry(opts))(t)
	t.Cleanup(r.Close)
	spec := providertest.PackageSpec{
		Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: getproviders.CurrentPlatform(), Signer: odd.signer, Keys: odd.keys,
	}
	r.Add(spec)
	spec.Platform = getproviders.Platform{OS: "zos", Arch: "s390x"} // last in the list
	spec.Archive = []byte("for another platform")
	r.Add(spec)
	return r
}

// terraformInstall returns what terraform printed and the zh hashes in the
// lock file that it wrote.
func terraformInstall(t *testing.T, terraform string, r *providertest.Registry) (output string, locked []getproviders.Hash, ok bool) {
	t.Helper()
	env := must.Get(r.Env(t.TempDir(), providertest.Host.String()))(t)
	dir, output, ok := terraformInit(t, terraform, r.Provider("acme", "widget"), env...)
	lockFile, _ := os.ReadFile(filepath.Join(dir, ".terraform.lock.hcl")) // it doesn't exist if the package was refused
	for _, zh := range regexp.MustCompile(`zh:\w+`).FindAllString(string(lockFile), -1) {
		locked = append(locked, getproviders.Hash(zh))
	}
	return output, locked, ok
}

// authenticateFrom authenticates the registry's package with the Trust of its source.
func authenticateFrom(t *testing.T, r *providertest.Registry) (none getproviders.AuthenticationResult, err error) {
	t.Helper()
	source := &getproviders.RegistrySource{Client: r.Client(), Discovery: &hosts.Discovery{Client: r.Client()}, Product: terraform}
	found := must.Get(source.Package(t.Context(), must.Get(terraform.ParseProvider(r.Host()+"/acme/widget"))(t), v1, getproviders.CurrentPlatform()))(t)
	trust, err := found.Trust.Loaded(t.Context())
	if err != nil {
		return none, err
	}
	return trust.Authenticator.Authenticate(getproviders.Digests{SHA256: found.Trust.ExpectedSHA256})
}

// terraformInit lets Terraform install a provider in a directory of its own.
func terraformInit(t *testing.T, terraform string, p getproviders.Provider, env ...string) (dir, output string, ok bool) {
	t.Helper()
	dir = t.TempDir()
	must.Write(t, filepath.Join(dir, "main.tf"), fmt.Sprintf("terraform {\n  required_providers {\n    widget = { source = %q }\n  }\n}\n", p))
	out, err := peertest.Command(t.Context(), terraform, dir, append(env, "HOME="+dir), "init", "-no-color", "-input=false").CombinedOutput()
	return dir, string(out), err == nil
}
