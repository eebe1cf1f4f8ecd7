package hosts

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Credentials has the tokens for hosts. Many goroutines may use it. A token is a secret: neither
// Credentials nor their users put one into an error or a log.
type Credentials interface {
	// Token returns the token for a host and its port; "" means that requests have none.
	Token(ctx context.Context, host Hostname) (string, error)
}

// Authorize adds the token of a host to the header of a request to target. It does nothing without
// credentials (nil) or a token, and if others could read the request (see [Confidential]);
// Terraform and OpenTofu send tokens even then.
//
// The target may be on another host: a token belongs to the host in the user's addresses, and the
// services that this host's discovery document declares get the token, too.
func Authorize(ctx context.Context, credentials Credentials, host Hostname, target *url.URL, header http.Header) error {
	if credentials == nil || !Confidential(target) {
		return nil
	}
	token, err := credentials.Token(ctx, host)
	if err != nil {
		return fmt.Errorf("failed to retrieve credentials for %s: %w", host, err)
	}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	return nil
}

// TokenVariable returns the environment variable of a host's token: a dot becomes an underscore,
// and a dash two. It returns "" for a host with a port, which no shell can set a variable for.
func TokenVariable(host Hostname) string {
	if strings.Contains(host.ASCII(), ":") {
		return ""
	}
	return "TF_TOKEN_" + strings.NewReplacer(".", "_", "-", "__").Replace(host.ASCII())
}

// FirstOf returns credentials that ask others in order, until one of them knows the host.
// Terraform's order is: tokens of the environment, then those of credentials blocks, then a helper.
// Nil credentials are skipped.
//
// An error ends the search: the next token wouldn't be the right one.
func FirstOf(all ...Credentials) Credentials {
	all = slices.DeleteFunc(slices.Clone(all), func(c Credentials) bool { return c == nil })
	return &Tokens{lookup: func(ctx context.Context, host Hostname) (token string, known bool, err error) {
		for _, c := range all {
			if tokens, ok := c.(*Tokens); ok {
				token, known, err = tokens.find(ctx, host)
			} else {
				token, err = c.Token(ctx, host)
				known = token != ""
			}
			if known || err != nil {
				return token, known, err
			}
		}
		return "", false, nil
	}}
}

// GenericHost is an alias, in addresses, of the host of a cloud block or a remote backend.
const GenericHost Hostname = "localterraform.com"

// Aliases are other names of hosts.
type Aliases map[Hostname]Hostname

func (a Aliases) of(host Hostname) Hostname { return cmp.Or(a[host], host) }

// WithAliases returns credentials that use a host's token for its aliases, too.
func WithAliases(c Credentials, aliases Aliases) Credentials {
	return &Tokens{lookup: func(ctx context.Context, host Hostname) (string, bool, error) {
		token, err := c.Token(ctx, aliases.of(host))
		return token, token != "", err
	}}
}

// Tokens are credentials that distinguish a host without a token from an unknown host. A nil *Tokens knows no host. It
// prints without its tokens, whatever the verb.
type Tokens struct {
	// lookup is a function because fmt shows only a function's address, while some verbs show what
	// a pointer refers to, or unexported fields of an enclosing struct.
	lookup func(ctx context.Context, host Hostname) (token string, known bool, err error)
}

// Token implements Credentials.
func (t *Tokens) Token(ctx context.Context, host Hostname) (string, error) {
	token, _, err := t.find(ctx, host)
	return token, err
}

func (t *Tokens) find(ctx context.Context, host Hostname) (token string, known bool, err error) {
	if t == nil || t.lookup == nil {
		return "", false, nil
	}
	return t.lookup(ctx, host)
}

// String implements fmt.Stringer.
func (Tokens) String() string { return "secrets (not shown)" }

// Format implements fmt.Formatter, which has precedence over GoString and all verbs.
func (t Tokens) Format(f fmt.State, _ rune) { io.WriteString(f, t.String()) }

// LogValue implements slog.LogValuer.
func (t Tokens) LogValue() slog.Value { return slog.StringValue(t.String()) }

// EnvTokens returns the tokens of variables such as TF_TOKEN_registry_example_com in an environment
// in the form of os.Environ.
//
// After the prefix follows the hostname, in Unicode or punycode; two underscores are a dash, one is
// a dot, and dashes and dots are themselves. A port is possible if the variable's name can have a
// colon: TF_TOKEN_localhost:8443. A variable without a valid hostname is ignored. The last of
// several for one host counts.
//
// A variable that is set to "" makes its host known without a token: this overrides the token of a
// file or a helper. Terraform sends an empty Authorization header then, which no server can accept.
func EnvTokens(environ []string) *Tokens {
	tokens := map[Hostname]string{}
	for _, entry := range environ {
		name, token, _ := strings.Cut(entry, "=")
		if host, ok := TokenHost(name); ok {
			tokens[host] = token
		}
	}
	return NewStaticTokens(tokens)
}

const tokenVariablePrefix = "TF_TOKEN_"

// TokenHost returns the host of a variable such as TF_TOKEN_registry_example_com, as [EnvTokens]
// reads it. It returns false for other names.
func TokenHost(variable string) (Hostname, bool) {
	suffix, ok := strings.CutPrefix(variable, tokenVariablePrefix)
	if !ok {
		return "", false
	}
	name := strings.ReplaceAll(strings.ReplaceAll(suffix, "__", "-"), "_", ".")
	// Punycode is allowed: another system may have set the variable, and people don't read it to
	// recognise the host.
	host, err := parseEncoded(name)
	return host, err == nil
}

// NewStaticTokens returns the tokens of a map, which it copies: those of credentials blocks, or of
// the environment (see [EnvTokens]). A host whose token is "" is known, too: requests to it have no
// token, and [FirstOf] stops there. It returns no errors.
func NewStaticTokens(tokens map[Hostname]string) *Tokens {
	tokens = maps.Clone(tokens)
	return &Tokens{lookup: func(_ context.Context, host Hostname) (string, bool, error) {
		token, known := tokens[host]
		return token, known, nil
	}}
}
