package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// writeImage writes what an image is built from beside an archive: the recipe, and what the program
// expects of a system.
func writeImage(s source, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	recipe, err := os.ReadFile(filepath.Join(s.dir, ".release", "Dockerfile"))
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, "Dockerfile"), recipe); err != nil {
		return err
	}
	base, err := baseSystem(s.time)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, "base.tar"), base)
}

// baseSystem is a tar archive of what the program expects of a system: certificates, and a directory for temporary
// files that any user can write to, which a recipe for images has no words for.
func baseSystem(at time.Time) ([]byte, error) {
	var b bytes.Buffer
	out := tar.NewWriter(&b)
	content := certificates()
	for _, header := range []tar.Header{
		{Name: "etc/", Mode: 0o755}, {Name: "etc/ssl/", Mode: 0o755}, {Name: "etc/ssl/certs/", Mode: 0o755},
		{Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg},
		{Name: "tmp/", Mode: 0o1777}, {Name: "work/", Mode: 0o755},
	} {
		if header.Typeflag == 0 {
			header.Typeflag = tar.TypeDir
		}
		header.ModTime, header.Format = at, tar.FormatUSTAR
		if err := out.WriteHeader(&header); err != nil {
			return nil, err
		}
		if header.Typeflag == tar.TypeReg {
			if _, err := out.Write(content); err != nil {
				return nil, err
			}
		}
	}
	err := out.Close()
	return b.Bytes(), err
}

// certificates are the authorities that Mozilla trusts, as the Go project publishes them. Those
// that are trusted under further conditions are left out: a file can't tell conditions.
func certificates() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			b.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return b.Bytes()
}
