package hosts

import (
	"context"
	"maps"
)

// StaticTokens are tokens that are known from the start: those of credentials
// blocks, or of the environment (see [EnvTokens]). A nil *StaticTokens knows
// none. It prints without its tokens, whatever the verb.
type StaticTokens struct {
	concealed
	// lookup is a function because all that fmt ever shows of one is its
	// address, while some verbs show what is behind a pointer, or in
	// unexported fields of whatever has this one in it.
	lookup func(Hostname) (token string, known bool)
}

// NewStaticTokens returns the tokens of a map, which it copies. A host whose
// token is "" is known, too: it is asked without a token, and [FirstOf] looks
// no further.
func NewStaticTokens(tokens map[Hostname]string) *StaticTokens {
	tokens = maps.Clone(tokens)
	return &StaticTokens{lookup: func(host Hostname) (string, bool) {
		token, known := tokens[host]
		return token, known
	}}
}

// Token implements Credentials. There are no errors.
func (s *StaticTokens) Token(ctx context.Context, host Hostname) (string, error) {
	token, _, err := s.find(ctx, host)
	return token, err
}

func (s *StaticTokens) find(_ context.Context, host Hostname) (token string, known bool, err error) {
	if s == nil || s.lookup == nil {
		return "", false, nil
	}
	token, known = s.lookup(host)
	return token, known, nil
}
