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

// writeImage writes the files from which, with an archive, an image is built: the Dockerfile, and the
// base system.
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

// baseSystem returns a tar archive of the files that the program expects: CA certificates, and a directory for temporary
// files that all users can write to, which a Dockerfile can't make without a shell.
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

// certificates returns Mozilla's CA certificates, as the Go project publishes them. It leaves out
// those with constraints, because a PEM file can't have constraints.
func certificates() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			b.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return b.Bytes()
}
