package googlestorage

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/oauth2"
	googleoauth "golang.org/x/oauth2/google"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/subprocess"
)

// The scopes of tokens.
const (
	ReadOnly  = "https://www.googleapis.com/auth/devstorage.read_only"
	ReadWrite = "https://www.googleapis.com/auth/devstorage.read_write"
)

// Login caches credentials, and the token that was requested with them. The zero value works. Many
// goroutines may use it; set the exported fields before the first call.
type Login struct {
	Find  func(ctx context.Context, scopes ...string) (*googleoauth.Credentials, error) // nil means Google's lookup; for tests
	Scope string                                                                        // "" means ReadOnly

	found  par.Memo[struct{}, *googleoauth.Credentials]
	tokens par.Memo[struct{}, *oauth2.Token]
}

// Settle waits until all requests for credentials and tokens have ended.
func (g *Login) Settle() {
	g.found.Settle()
	g.tokens.Settle()
}

// authorize adds the credentials to a header. It requests a new token when the old one expires, after an hour. It returns
// false if no credentials are configured.
func (g *Login) authorize(ctx context.Context, client *http.Client, environ []string, to http.Header) (bool, error) {
	quota := subprocess.Variable(environ, "GOOGLE_CLOUD_QUOTA_PROJECT")
	token := &oauth2.Token{AccessToken: subprocess.Variable(environ, "GOOGLE_OAUTH_ACCESS_TOKEN")}
	if token.AccessToken == "" {
		found, err := g.found.Do(ctx, struct{}{}, func(ctx context.Context) (*googleoauth.Credentials, error) { return g.look(ctx, client) })
		if err != nil || found == nil {
			return false, err
		}
		g.tokens.Expire(struct{}{}, func(t *oauth2.Token) bool { return !t.Valid() })
		if token, err = g.tokens.Do(ctx, struct{}{}, func(context.Context) (*oauth2.Token, error) { return found.TokenSource.Token() }); err != nil {
			return false, fmt.Errorf("a token for Google Cloud Storage: %w", err)
		}
		var file struct {
			QuotaProject string `json:"quota_project_id"`
		}
		_ = json.Unmarshal(found.JSON, &file) // credentials of a machine have no JSON
		quota = cmp.Or(quota, file.QuotaProject)
	}
	to.Set("Authorization", token.Type()+" "+token.AccessToken)
	if quota != "" {
		to.Set("X-Goog-User-Project", quota)
	}
	return true, nil
}

// look finds Google's application default credentials, or returns nil if none are configured.
// The token source outlives the caller's context, so it must not use it.
func (g *Login) look(ctx context.Context, client *http.Client) (*googleoauth.Credentials, error) {
	if client == nil {
		client = hosts.DefaultClient()
	}
	find := g.Find
	if find == nil {
		find = googleoauth.FindDefaultCredentials
	}
	found, err := find(context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, client), cmp.Or(g.Scope, ReadOnly))
	if err != nil && strings.Contains(err.Error(), noCredentials) {
		return nil, nil
	}
	return found, err
}

// noCredentials is in the error of Google's library for missing credentials, which is no error
// value of its own.
const noCredentials = "could not find default credentials"
