package sources

import (
	"net/http"
)

const theToken = "s3cr3t-t0k3n"

// guarded has the registry and the mirror ask for a token.
func guarded(w *sourceWorld) {
	w.registry.RequireToken(theToken, "versions", "package")
	w.mirrors("1.0.0")
	w.mirror.RequireToken(theToken, "index", "version")
}

// credentialsCases are about the origin of tokens.
var credentialsCases = map[string]sourceCase{
	"no token": {
		fails: "host tf.example.com requires authentication credentials",
	},
	"wrong token": {
		env:   []string{"TF_TOKEN_tf_example_com=guess"},
		fails: "host tf.example.com rejected the given authentication credentials",
	},
	"token in a variable": {
		env:      []string{"TF_TOKEN_tf_example_com=" + theToken},
		installs: "registry/2.0.0",
	},
	"credentials block": {
		cli:      `credentials "tf.example.com" { token = "` + theToken + `" }`,
		installs: "registry/2.0.0",
	},
	"empty variable before block": {
		cli:    `credentials "tf.example.com" { token = "` + theToken + `" }`,
		env:    []string{"TF_TOKEN_tf_example_com="},
		fails:  "host tf.example.com requires authentication credentials",
		theirs: "host tf.example.com rejected the given authentication credentials",
	},
	"credentials.tfrc.json": {
		files:    files{"home/.terraform.d/credentials.tfrc.json": `{"credentials": {"tf.example.com": {"token": "` + theToken + `"}}}`},
		installs: "registry/2.0.0",
	},
	"credentials.tfrc.json beside TF_CLI_CONFIG_FILE": {
		env:   []string{"TF_CLI_CONFIG_FILE=$ROOT/home/.terraformrc"},
		files: files{"home/.terraform.d/credentials.tfrc.json": `{"credentials": {"tf.example.com": {"token": "` + theToken + `"}}}`},
		fails: "host tf.example.com requires authentication credentials",
	},
	"credentials helper": {
		cli:      `credentials_helper "test" { args = ["--from", "vault"] }`,
		files:    files{"home/.terraform.d/plugins/terraform-credentials-test": helperScript},
		installs: "registry/2.0.0",
	},
	"block before credentials helper": {
		cli:      `credentials_helper "test" {} credentials "tf.example.com" { token = "` + theToken + `" }`,
		files:    files{"home/.terraform.d/plugins/terraform-credentials-test": "#!/bin/sh\nexit 1\n"},
		installs: "registry/2.0.0",
	},
	"credentials helper that knows nothing": {
		cli:   `credentials_helper "test" {}`,
		files: files{"home/.terraform.d/plugins/terraform-credentials-test": "#!/bin/sh\necho '{}'\n"},
		fails: "host tf.example.com requires authentication credentials",
	},
	"credentials helper that fails": {
		cli:   `credentials_helper "test" {}`,
		files: files{"home/.terraform.d/plugins/terraform-credentials-test": "#!/bin/sh\necho 'the vault is closed' >&2\nexit 1\n"},
		fails: "the vault is closed",
	},
	"token for the mirror's host and port": {
		cli:      fromMirror + ` credentials "$MIRRORHOST" { token = "` + theToken + `" }`,
		installs: "mirror/1.0.0",
	},
	"token for the mirror's host without port": {
		cli:    fromMirror + ` credentials "localhost" { token = "` + theToken + `" }`,
		fails:  "host $MIRRORHOST requires authentication credentials",
		theirs: "host $MIRRORHOST rejected the given authentication credentials",
	},
	"token of the provider's host for the mirror": {
		cli:    fromMirror + ` credentials "tf.example.com" { token = "` + theToken + `" }`,
		fails:  "host $MIRRORHOST requires authentication credentials",
		theirs: "host $MIRRORHOST rejected the given authentication credentials",
	},
	".netrc for archives": {
		arrange:  lockedAway,
		cli:      fromMirror,
		files:    files{"home/.netrc": "machine $VAULT login me password pass\n"},
		installs: "vault/1.0.0",
	},
	".netrc without the port": {
		arrange:  lockedAway,
		cli:      fromMirror,
		files:    files{"home/.netrc": "machine localhost login me password pass\ndefault login me password wrong\n"},
		theirs:   "bad response code: 401",
		installs: "vault/1.0.0",
	},
	"NETRC for archives": {
		arrange:  lockedAway,
		cli:      fromMirror,
		env:      []string{"NETRC=$ROOT/my.netrc"},
		files:    files{"my.netrc": "default login me password pass\n", "home/.netrc": "machine $VAULT login me password wrong\n"},
		installs: "vault/1.0.0",
	},
	"no .netrc for archives": {
		arrange: lockedAway,
		cli:     fromMirror + ` credentials "$MIRRORHOST" { token = "` + theToken + `" }`,
		fails:   "401 Unauthorized",
		theirs:  "bad response code: 401",
	},
}

// helperScript is a credentials helper that insists on the protocol.
const helperScript = `#!/bin/sh
[ "$*" = "--from vault get tf.example.com" ] || exit 1
echo '{"token": "` + theToken + `"}'
`

// lockedAway puts the archive of the network mirror's package where only a user
// and a password open.
func lockedAway(w *sourceWorld) {
	w.serve(func(rw http.ResponseWriter, req *http.Request) {
		if user, password, _ := req.BasicAuth(); user != "me" || password != "pass" {
			http.Error(rw, "who are you?", http.StatusUnauthorized)
			return
		}
		rw.Header().Set("Content-Type", "application/zip")
		_, _ = rw.Write(servedFrom("vault/1.0.0"))
	})
	w.mirrors("1.0.0", noHashes...)
	w.edits("version", `"url": "`, `"url": "https://$VAULT/`)
}
