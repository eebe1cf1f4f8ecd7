package fetch

import (
	"context"
	"net/url"
	"slices"

	"github.com/tfdeps/tfdeps/configs/modules"
)

// pinned is what is remembered of a package that never changes.
type pinned struct {
	SHA256   string `json:"sha256,omitempty"` // of the archive
	Commit   string `json:"commit,omitempty"`
	Location string `json:"location,omitempty"` // the address to which servers pointed; "": nobody had to be asked
	Subdir   string `json:"subdir,omitempty"`   // that they told
}

func pinKey(req modules.FetchRequest) string { return req.Pin + "\n" + req.Package }

// recall returns where a package is that was fetched for the same pin earlier, if
// that is still known and its archive is in the store.
func (s store) recall(ctx context.Context, req modules.FetchRequest) (location, bool) {
	var record pinned
	if req.Pin == "" || !s.load(pinsDir, pinKey(req), &record) {
		return location{}, false
	}
	at, hopped := req.Package, false
	if record.Location != "" {
		at, hopped = record.Location, true
	}
	from, err := parseOrigin(at, hopped)
	if err != nil || from.isPage() {
		return location{}, false
	}
	switch {
	case from.kind == "git" && from.archive == "":
		from.known = record.Commit
	case from.kind == "http":
		if _, ok := s.archive(ctx, record.SHA256); !ok {
			return location{}, false
		}
		from.known = record.SHA256
	}
	return location{origin: from, address: at, subdir: record.Subdir, hopped: hopped}, from.known != ""
}

// keepPin remembers where a package was and what it had.
func (s store) keepPin(req modules.FetchRequest, at location, made content) {
	record := pinned{SHA256: made.sha256, Commit: made.commit, Subdir: at.subdir}
	found := made.sha256 + made.commit // one of them
	if req.Pin == "" || found == "" || found == at.known {
		return
	}
	if at.hopped {
		if !mayBeKept(at.address) {
			return
		}
		record.Location = at.address
	}
	s.save(pinsDir, pinKey(req), record)
}

// mayBeKept reports whether an address holds no secret, so that it may be written
// to disk.
func mayBeKept(pkg string) bool {
	_, text := splitForced(pkg)
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	if _, hasPassword := u.User.Password(); hasPassword || u.Scheme != "ssh" && u.User != nil {
		return false
	}
	for name := range u.Query() {
		if !slices.Contains(harmless, name) {
			return false
		}
	}
	return true
}
