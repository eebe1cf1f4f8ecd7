package hosts

import "context"

// FirstOf returns credentials that ask others one after the other, until one
// of them knows the host. The real tool's order is: tokens of the environment,
// then those of credentials blocks, then a helper. Nil ones are left out.
//
// An error ends the search: the request would go out with a token other than
// the one that it should have.
func FirstOf(all ...Credentials) Credentials {
	chain := &firstOf{}
	for _, c := range all {
		if c != nil {
			chain.all = append(chain.all, c)
		}
	}
	return chain
}

type firstOf struct {
	concealed
	all []Credentials
}

// finder is implemented by credentials that can tell a host which goes without
// a token from one that they don't know. For others, both are "".
type finder interface {
	find(ctx context.Context, host Hostname) (token string, known bool, err error)
}

// Token implements Credentials.
func (f *firstOf) Token(ctx context.Context, host Hostname) (string, error) {
	token, _, err := f.find(ctx, host)
	return token, err
}

func (f *firstOf) find(ctx context.Context, host Hostname) (token string, known bool, err error) {
	for _, c := range f.all {
		if token, known, err = findIn(ctx, c, host); known || err != nil {
			return token, known, err
		}
	}
	return "", false, nil
}

func findIn(ctx context.Context, c Credentials, host Hostname) (token string, known bool, err error) {
	if c, ok := c.(finder); ok {
		return c.find(ctx, host)
	}
	token, err = c.Token(ctx, host)
	return token, token != "", err
}
