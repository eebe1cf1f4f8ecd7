package mirrorserver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Forbidden is an error of the Allow of [Options] about a sender that is known, but may not have what the request asks for.
type Forbidden struct {
	Reason string // shown to the client
}

// Error implements error.
func (f *Forbidden) Error() string { return f.Reason }

// admit returns nil if a request may be answered, else what Allow says against it.
func (s *Server) admit(r *http.Request, asked request) error {
	if s.opts.Allow == nil {
		return nil
	}

	refusal := s.opts.Allow(r)
	if refusal != nil && s.signedURL(r, asked) {
		return nil
	}
	return refusal
}

// turnAway answers a request that Allow refuses.
func (s *Server) turnAway(w http.ResponseWriter, r *http.Request, refusal error) {
	forbidden, isKnown := errors.AsType[*Forbidden](refusal)
	if isKnown {
		s.refuse(w, http.StatusForbidden, forbidden.Reason)
		return
	}

	w.Header().Set("WWW-Authenticate", `Bearer realm="tfdeps"`)
	s.refuse(w, http.StatusUnauthorized, unauthorized(r))
}

// unauthorized says what a request that isn't allowed lacks.
func unauthorized(r *http.Request) string {
	switch {
	case r.Header.Get("Authorization") != "":
		return "this token isn't valid here"
	case r.URL.Query().Has("signature"):
		return "this signed URL isn't valid, or not any more: request the document that has it again"
	default:
		return "a token is missing: send it as a bearer token"
	}
}

// urlLifetime is how long a signed URL is valid at least; at most it is twice as long. All URLs
// that are signed within that time expire together, so that documents have the same ETag.
const urlLifetime = 15 * time.Minute

// fileURL returns the URL of an archive, or of a signed document beside it, relative to that of its version's document.
// The URL is for who, "" if that isn't known.
func (s *Server) fileURL(p getproviders.Provider, name, who string) string {
	if s.opts.SigningKey == nil {
		return url.PathEscape(name)
	}

	until := s.urlsUntil()
	query := url.Values{
		"until":     {strconv.FormatInt(until, 10)},
		"signature": {s.sign(p, name, until, who)},
	}
	if who != "" {
		query.Set("who", who)
	}
	return url.PathEscape(name) + "?" + query.Encode()
}

// sender returns the name of a request's sender, for the URLs that it gets, or "".
func (s *Server) sender(r *http.Request) string {
	if s.opts.SigningKey == nil || s.opts.Sender == nil {
		return ""
	}
	return s.opts.Sender(r)
}

// urlsVariant tells documents with different signed URLs from each other.
func (s *Server) urlsVariant(who string) string {
	return strconv.FormatInt(s.urlsUntil(), 36) + "/" + who
}

// urlsUntil returns when URLs that are signed now expire, in seconds.
func (s *Server) urlsUntil() int64 {
	if s.opts.SigningKey == nil {
		return 0
	}
	return s.fetcher.Now().Truncate(urlLifetime).Add(2 * urlLifetime).Unix()
}

// sign signs the path of a file, the time at which the URL expires, and for whom it is. Earlier versions named nobody.
func (s *Server) sign(p getproviders.Provider, name string, until int64, who string) string {
	mac := hmac.New(sha256.New, s.opts.SigningKey)
	fmt.Fprintf(mac, "%s/%s\n%d", providerPath(p), name, until)
	if who != "" {
		fmt.Fprintf(mac, "\n%s", who)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// signedURL reports whether a request's URL is validly signed and hasn't expired. Only the paths of archives, and of the
// documents that authenticate them, are ever signed.
func (s *Server) signedURL(r *http.Request, asked request) bool {
	query := r.URL.Query()
	until, err := strconv.ParseInt(query.Get("until"), 10, 64)
	if s.opts.SigningKey == nil || err != nil || s.fetcher.Now().Unix() >= until {
		return false
	}

	who := query.Get("who")
	if !hmac.Equal([]byte(query.Get("signature")), []byte(s.sign(asked.provider, asked.name, until, who))) {
		return false
	}
	if s.opts.Admitted != nil && who != "" {
		s.opts.Admitted(r, who)
	}
	return true
}
