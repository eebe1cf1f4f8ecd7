package view

import (
	"errors"
	"io"
	"path/filepath"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

type jsonRemoval struct {
	jsonHead
	DryRun     bool          `json:"dry_run"`
	Freed      int64         `json:"freed"`
	Shared     int64         `json:"shared"`
	SharedWith []string      `json:"shared_with"`
	Removed    []jsonRemoved `json:"removed"`
	Kept       []jsonKept    `json:"kept"`
	Modules    jsonSwept     `json:"modules"`
}

type jsonRemoved struct {
	jsonPackage
	Size       int64     `json:"size"`
	SizeOnDisk int64     `json:"size_on_disk"`
	LastUse    time.Time `json:"last_use"`
}

type jsonKept struct {
	jsonPackage
	Reason   string   `json:"reason"`
	Detail   string   `json:"detail"`
	LinkedBy []string `json:"linked_by"`
}

type jsonSwept struct {
	Entries int   `json:"entries"`
	Bytes   int64 `json:"bytes"`
}

// JSON tells the same as Text, for programs: packages in the order in which
// they were to go.
func (r CacheRemoval) JSON(w io.Writer) error {
	out := jsonRemoval{
		jsonHead: newJSONHead(r.Cache), DryRun: r.DryRun, Freed: r.Done.Freed, Shared: r.Done.Shared,
		SharedWith: append([]string{}, r.Done.SharedWith...), Removed: newJSONRemoved(r.Done), Kept: newJSONKept(r.Done),
		Modules: jsonSwept{r.Entries, r.Bytes},
	}
	return writeObject(w, out)
}

func newJSONRemoved(done providercache.Removal) []jsonRemoved {
	all := []jsonRemoved{}
	for _, p := range done.Removed {
		all = append(all, jsonRemoved{newJSONPackage(p), p.Size, p.OnDisk, p.LastUse.UTC().Truncate(time.Second)})
	}
	return all
}

func newJSONKept(done providercache.Removal) []jsonKept {
	all := []jsonKept{}
	for _, p := range done.Kept {
		all = append(all, jsonKept{newJSONPackage(p.Cached), reasonToKeep(p), p.Why.Error(), append([]string{}, p.Linked...)})
	}
	return all
}

// reasonToKeep is a word that stays the same, for what Spared.Why says.
func reasonToKeep(p providercache.Spared) string {
	switch {
	case errors.Is(p.Why, providercache.ErrInUse) && len(p.Linked) > 0:
		return "linked"
	case errors.Is(p.Why, providercache.ErrInUse):
		return "in_use"
	case errors.Is(p.Why, providercache.ErrNotOurs):
		return "no_receipt"
	default:
		return "failed"
	}
}

type jsonVerification struct {
	jsonHead
	Packages []jsonVerified `json:"packages"`
	Removed  []jsonRemoved  `json:"removed"`
	Kept     []jsonKept     `json:"kept"`
}

type jsonVerified struct {
	jsonPackage
	Finding  string              `json:"finding"`
	H1       getproviders.Hash   `json:"h1,omitempty"`
	Expected []getproviders.Hash `json:"expected"`
	Error    string              `json:"error,omitempty"`
}

// JSON tells of every package, in the order of addresses, versions and platforms.
func (v CacheVerification) JSON(w io.Writer) error {
	out := jsonVerification{jsonHead: newJSONHead(v.Cache), Packages: []jsonVerified{}, Removed: []jsonRemoved{}, Kept: []jsonKept{}}
	for _, found := range v.Found {
		p := jsonVerified{
			jsonPackage: newJSONPackage(found.Cached), Finding: string(found.Finding), H1: found.H1,
			Expected: append([]getproviders.Hash{}, found.Expected...),
		}
		if found.Err != nil {
			p.Error = found.Err.Error()
		}
		out.Packages = append(out.Packages, p)
	}
	if v.Repaired != nil {
		out.Removed, out.Kept = newJSONRemoved(*v.Repaired), newJSONKept(*v.Repaired)
	}
	return writeObject(w, out)
}

type jsonFilling struct {
	jsonHead
	Packages []jsonFilled `json:"packages"`
	Receipts *bool        `json:"receipts"`
}

type jsonFilled struct {
	Address   getproviders.Provider `json:"address"`
	Version   string                `json:"version,omitempty"`
	Platform  string                `json:"platform"`
	Directory string                `json:"directory,omitempty"`
	Added     bool                  `json:"added"`
	Error     string                `json:"error,omitempty"`
}

// JSON tells of every package that was asked for, in that order, platform by
// platform.
func (f CacheFilling) JSON(w io.Writer) error {
	out := jsonFilling{jsonHead: newJSONHead(f.Cache), Packages: []jsonFilled{}, Receipts: f.Receipts}
	for _, filled := range f.Filled {
		s := filled.Selection
		p := jsonFilled{Address: s.Provider, Platform: filled.Platform.String(), Added: filled.Err == nil && !filled.Present}
		if s.Version != (getproviders.Version{}) {
			p.Version = s.Version.String()
		}
		if filled.Err != nil {
			p.Error = filled.Err.Error()
		} else {
			p.Directory = filepath.Join(f.Cache.Dir, filepath.FromSlash(getproviders.UnpackedPath(s.Provider, s.Version, filled.Platform)))
		}
		out.Packages = append(out.Packages, p)
	}
	return writeObject(w, out)
}
