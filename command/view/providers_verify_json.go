package view

import (
	"encoding/json"
	"io"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

type jsonVerifiedTree struct {
	Path     string                `json:"path"`
	LockFile string                `json:"lock_file"`
	Packages []jsonVerifiedPackage `json:"packages"`
}

type jsonVerifiedPackage struct {
	Address       getproviders.Provider     `json:"address"`
	Version       getproviders.Version      `json:"version"`
	Platform      getproviders.Platform     `json:"platform"`
	Finding       providercache.TreeFinding `json:"finding"`
	Path          string                    `json:"path,omitempty"`
	Packed        *bool                     `json:"packed,omitempty"`
	H1            getproviders.Hash         `json:"h1,omitempty"`
	ZH            getproviders.Hash         `json:"zh,omitempty"`
	LockedVersion *getproviders.Version     `json:"locked_version"`
	LockedHashes  []getproviders.Hash       `json:"locked_hashes"`
	Error         string                    `json:"error,omitempty"`
}

// writeVerifyReport writes what was found, for programs, as one object.
func writeVerifyReport(w io.Writer, trees []VerifiedTree) error {
	report := struct {
		Format string             `json:"format_version"`
		Trees  []jsonVerifiedTree `json:"trees"`
	}{Format: "1.0", Trees: []jsonVerifiedTree{}}
	for _, t := range trees {
		out := jsonVerifiedTree{Path: filepath.ToSlash(t.Path), LockFile: filepath.ToSlash(t.LockFile), Packages: []jsonVerifiedPackage{}}
		for _, p := range t.Packages {
			out.Packages = append(out.Packages, newJSONVerifiedPackage(p))
		}
		report.Trees = append(report.Trees, out)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(report)
}

func newJSONVerifiedPackage(p providercache.ComparedPackage) jsonVerifiedPackage {
	out := jsonVerifiedPackage{
		Address: p.Provider, Version: p.Version, Platform: p.Platform, Finding: p.Finding,
		Path: filepath.ToSlash(p.Path), H1: p.H1, ZH: p.ZH,
		LockedHashes: append([]getproviders.Hash{}, p.Locked.Hashes...),
	}
	if p.Path != "" {
		out.Packed = &p.Packed
	}
	if p.Locked.Version != (getproviders.Version{}) {
		out.LockedVersion = &p.Locked.Version
	}
	if p.Err != nil {
		out.Error = p.Err.Error()
	}
	return out
}
