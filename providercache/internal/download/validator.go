package download

import (
	"net/http"
	"strings"
	"time"
)

// validator identifies the version of an archive that a response has, so that the
// rest of the same version can be requested.
type validator struct {
	etag, modified string // as in the header
	exact          bool   // modified is old enough for a later change to show
	ranges         bool   // the server says that it can send parts
}

func validatorOf(h http.Header) validator {
	e := validator{etag: h.Get("Etag"), modified: h.Get("Last-Modified"), ranges: h.Get("Accept-Ranges") == "bytes"}
	modified, err := http.ParseTime(e.modified)
	sent, sentErr := http.ParseTime(h.Get("Date"))
	e.exact = err == nil && sentErr == nil && sent.Sub(modified) >= time.Second
	return e
}

// ifRange is the value for If-Range: the server is to send the rest only if
// the archive is still the same. Only what changes with every change of the archive
// works: a strong ETag, else a date of some age; "" if there is neither.
func (e validator) ifRange() string {
	switch {
	case e.etag != "" && !strings.HasPrefix(e.etag, "W/"):
		return e.etag
	case e.etag == "" && e.exact:
		return e.modified
	default:
		return ""
	}
}

// resumable reports whether the rest can be requested. known: the checksum is known,
// so that parts of different archives are detected in the end.
func (e validator) resumable(known bool) bool {
	return e.ifRange() != "" || known && (e.ranges || e.etag != "" || e.modified != "")
}

// differs reports whether another response certainly has another version.
func (e validator) differs(other validator) bool {
	return e.etag != "" && other.etag != "" && e.etag != other.etag ||
		e.modified != "" && other.modified != "" && e.modified != other.modified
}
