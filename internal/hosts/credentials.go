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

// Credentials knows the tokens with which hosts are asked. It is safe for many
// goroutines. A token is a secret: neither Credentials nor their users put one
// into an error or a log.
type Credentials interface {
	// Token returns the token for a host and its port; "" means that there is
	// none, and requests go without.
	Token(ctx context.Context, host Hostname) (string, error)
}

// Authorize adds the token of a host to the header of a request to target, if
// there is one. Without credentials (nil) it does nothing; neither does it
// where others could read along (see [Confidential]), though Terraform and OpenTofu
// send tokens there.
//
// The target may be on another host: a token belongs to the host that users
// write in addresses, and what that host's discovery document declares to be
// its services gets the token, too.
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

// TokenVariable names the environment variable that holds a host's token: a
// dot is an underscore there, and a dash is two. It is "" for a host with a
// port, for which no shell could set one.
func TokenVariable(host Hostname) string {
	if strings.Contains(host.ASCII(), ":") {
		return ""
	}
	return "TF_TOKEN_" + strings.NewReplacer(".", "_", "-", "__").Replace(host.ASCII())
}

// FirstOf returns credentials that ask others one after the other, until one
// of them knows the host. Terraform's order is: tokens of the environment,
// then those of credentials blocks, then a helper. Nil ones are left out.
//
// An error ends the search: the request would go out with a token other than
// the one that it should have.
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

// GenericHost stands in addresses for the host of a cloud block or a remote backend.
const GenericHost Hostname = "localterraform.com"

// Aliases are hostnames that stand for others.
type Aliases map[Hostname]Hostname

func (a Aliases) of(host Hostname) Hostname { return cmp.Or(a[host], host) }

// WithAliases returns credentials that have the token of the host for its alias.
func WithAliases(c Credentials, aliases Aliases) Credentials {
	return &Tokens{lookup: func(ctx context.Context, host Hostname) (string, bool, error) {
		token, err := c.Token(ctx, aliases.of(host))
		return token, token != "", err
	}}
}

// Tokens are credentials that can tell a host which goes without a token from one that they don't know. A nil *Tokens knows
// none. It prints without its tokens, whatever the verb.
type Tokens struct {
	// lookup is a function because all that fmt ever shows of one is its
	// address, while some verbs show what is behind a pointer, or in
	// unexported fields of whatever has this one in it.
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

// Format implements fmt.Formatter, which comes before GoString and all verbs.
func (t Tokens) Format(f fmt.State, _ rune) { io.WriteString(f, t.String()) }

// LogValue implements slog.LogValuer.
func (t Tokens) LogValue() slog.Value { return slog.StringValue(t.String()) }

// EnvTokens returns the tokens of variables such as
// TF_TOKEN_registry_example_com in an environment like that of os.Environ.
//
// What follows the prefix is the hostname, in Unicode or punycode; two
// underscores in a row stand for a dash, then each one left for a dot, and
// dashes and dots may stand for themselves. A port is possible where the
// name of a variable can hold a colon: TF_TOKEN_localhost:8443. A variable whose
// name doesn't make a hostname is ignored. The last of several for one host
// counts.
//
// A variable that is set to nothing makes its host known with the token "":
// this is the way to go without the token that a file or a helper has. The real
// tool sends an Authorization header with an empty token then, which no
// server can accept.
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

// TokenHost is the host whose token a variable of a name such as TF_TOKEN_registry_example_com
// holds, as [EnvTokens] reads it. It is false for names that hold no host's token.
func TokenHost(variable string) (Hostname, bool) {
	suffix, ok := strings.CutPrefix(variable, tokenVariablePrefix)
	if !ok {
		return "", false
	}
	name := strings.ReplaceAll(strings.ReplaceAll(suffix, "__", "-"), "_", ".")
	// Punycode is welcome: other systems than ours may have set the
	// variable, and it says nothing that people would have to read.
	host, err := parseEncoded(name)
	return host, err == nil
}

// NewStaticTokens returns the tokens of a map, which it copies: those of credentials
// blocks, or of the environment (see [EnvTokens]). A host whose
// token is "" is known, too: it is asked without a token, and [FirstOf] looks
// no further. There are no errors.
func NewStaticTokens(tokens map[Hostname]string) *Tokens {
	tokens = maps.Clone(tokens)
	return &Tokens{lookup: func(_ context.Context, host Hostname) (string, bool, error) {
		token, known := tokens[host]
		return token, known, nil
	}}
}
