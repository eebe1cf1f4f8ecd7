package mirrorserver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
)

// allowed reports whether a request may be answered.
func (s *Server) allowed(r *http.Request, asked request) bool {
	return s.opts.Allow == nil || s.opts.Allow(r) || (asked.kind == archiveRequest || asked.kind == documentRequest) && s.signedURL(r, asked)
}

// urlLifetime is how long a signed URL is valid at least; at most it is twice as long. All URLs
// that are signed within that time expire together, so that documents have the same ETag.
const urlLifetime = 15 * time.Minute

// fileURL returns the URL of an archive, or of a signed document beside it, relative to that of its version's document.
func (s *Server) fileURL(p getproviders.Provider, name string) string {
	if s.opts.SigningKey == nil {
		return url.PathEscape(name)
	}
	until := s.urlsUntil()
	return url.PathEscape(name) + "?" + url.Values{"until": {strconv.FormatInt(until, 10)}, "signature": {s.sign(p, name, until)}}.Encode()
}

// urlsUntil returns when URLs that are signed now expire, in seconds.
func (s *Server) urlsUntil() int64 {
	if s.opts.SigningKey == nil {
		return 0
	}
	return s.fetcher.Now().Truncate(urlLifetime).Add(2 * urlLifetime).Unix()
}

// sign signs the path of a file and the time at which the URL expires.
func (s *Server) sign(p getproviders.Provider, name string, until int64) string {
	mac := hmac.New(sha256.New, s.opts.SigningKey)
	fmt.Fprintf(mac, "%s/%s\n%d", providerPath(p), name, until)
	return hex.EncodeToString(mac.Sum(nil))
}

// signedURL reports whether a request's URL is validly signed and hasn't expired.
func (s *Server) signedURL(r *http.Request, asked request) bool {
	query := r.URL.Query()
	until, err := strconv.ParseInt(query.Get("until"), 10, 64)
	if s.opts.SigningKey == nil || err != nil || s.fetcher.Now().Unix() >= until {
		return false
	}
	return hmac.Equal([]byte(query.Get("signature")), []byte(s.sign(asked.provider, asked.name, until)))
}
