package bucket

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/oauth2"
	googleoauth "golang.org/x/oauth2/google"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/getproviders/par"
)

// readOnly is all that a token is asked for.
const readOnly = "https://www.googleapis.com/auth/devstorage.read_only"

// google remembers the credentials that were found, and the token that was got with them.
type google struct {
	find   func(ctx context.Context, scopes ...string) (*googleoauth.Credentials, error) // nil: Google's own; tests have another one
	found  par.Memo[struct{}, *googleoauth.Credentials]
	tokens par.Memo[struct{}, *oauth2.Token]
}

func (g *google) settle() {
	g.found.Settle()
	g.tokens.Settle()
}

// googleLogin is what a request to Google has in its header.
type googleLogin struct {
	token *oauth2.Token // nil: there are none
	quota string        // the project that pays; "": the one of the credentials
}

func (l googleLogin) add(header http.Header) {
	if l.token == nil {
		return
	}
	header.Set("Authorization", l.token.Type()+" "+l.token.AccessToken)
	if l.quota != "" {
		header.Set("X-Goog-User-Project", l.quota)
	}
}

// googleLogin returns what requests are made with now: tokens end after an hour.
func (s *Services) googleLogin(ctx context.Context) (googleLogin, error) {
	quota := s.variable("GOOGLE_CLOUD_QUOTA_PROJECT")
	if token := s.variable("GOOGLE_OAUTH_ACCESS_TOKEN"); token != "" {
		return googleLogin{&oauth2.Token{AccessToken: token}, quota}, nil
	}
	found, err := s.google.found.Do(ctx, struct{}{}, s.findGoogle)
	if err != nil || found == nil {
		return googleLogin{}, err
	}
	s.google.tokens.Expire(struct{}{}, func(t *oauth2.Token) bool { return !t.Valid() })
	token, err := s.google.tokens.Do(ctx, struct{}{}, func(context.Context) (*oauth2.Token, error) { return found.TokenSource.Token() })
	if err != nil {
		return googleLogin{}, fmt.Errorf("a token for Google Cloud Storage: %w", err)
	}
	var file struct {
		QuotaProject string `json:"quota_project_id"`
	}
	_ = json.Unmarshal(found.JSON, &file) // credentials of a machine have no file
	return googleLogin{token, cmp.Or(quota, file.QuotaProject)}, nil
}

// findGoogle looks where Google's programs look; nil: there are no credentials. The context of its
// caller ends before the next token is asked for, so the source of tokens must not have it.
func (s *Services) findGoogle(ctx context.Context) (*googleoauth.Credentials, error) {
	client := s.Client
	if client == nil {
		client = hosts.DefaultClient()
	}
	find := s.google.find
	if find == nil {
		find = googleoauth.FindDefaultCredentials
	}
	found, err := find(context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, client), readOnly)
	if err != nil && strings.Contains(err.Error(), noCredentials) {
		return nil, nil
	}
	return found, err
}

// noCredentials is how Google's library says that it found none, which has no value of its own.
const noCredentials = "could not find default credentials"
