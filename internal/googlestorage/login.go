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

// What a token may be for.
const (
	ReadOnly  = "https://www.googleapis.com/auth/devstorage.read_only"
	ReadWrite = "https://www.googleapis.com/auth/devstorage.read_write"
)

// Login remembers the credentials that were found, and the token that was got with them. The zero
// value works. It is safe for many goroutines; the exported fields are set before the first call.
type Login struct {
	Find  func(ctx context.Context, scopes ...string) (*googleoauth.Credentials, error) // nil: Google's own; tests have another one
	Scope string                                                                        // "": ReadOnly

	found  par.Memo[struct{}, *googleoauth.Credentials]
	tokens par.Memo[struct{}, *oauth2.Token]
}

// Settle waits until no credentials are asked for any more.
func (g *Login) Settle() {
	g.found.Settle()
	g.tokens.Settle()
}

// authorize adds to a header what requests are made with now, as tokens end after an hour; false: there are no credentials.
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
		_ = json.Unmarshal(found.JSON, &file) // credentials of a machine have no file
		quota = cmp.Or(quota, file.QuotaProject)
	}
	to.Set("Authorization", token.Type()+" "+token.AccessToken)
	if quota != "" {
		to.Set("X-Goog-User-Project", quota)
	}
	return true, nil
}

// look looks where Google's programs look; nil: there are no credentials. The context of its
// caller ends before the next token is asked for, so the source of tokens must not have it.
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

// noCredentials is how Google's library says that it found none, which has no value of its own.
const noCredentials = "could not find default credentials"
