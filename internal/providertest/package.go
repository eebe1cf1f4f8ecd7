package providertest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
)

// PackageSpec is a package of a server. It has no host, because any host may be redirected to a
// registry; Mirror.Add has a parameter for it.
type PackageSpec struct {
	Namespace, Type string
	Version         string
	Platform        getproviders.Platform // the zero value means the current one
	Protocols       []string              // nil means "5.0"
	Warnings        []string              // sent with the list of versions

	// Archive is the package, made by Zip or read from anywhere, and served from memory.
	// ArchivePath names a file instead, which is better for a large one. Without both, the package
	// is a small one with a file named like the provider's executable.
	Archive     []byte
	ArchivePath string

	// Signer signs the checksum list that contains this package; nil means the registry's. If
	// several packages of one version have one, the last is used.
	Signer *Signer
	// Hashes are those that a mirror lists, or a registry with ListHashes; nil means the archive's
	// h1 and zh, empty means none.
	Hashes []string
	// Keys are the signing keys that the registry lists for the package; nil means the signer's
	// key, empty means none.
	Keys []Key
}

// Key is a signing key as a registry lists it.
type Key struct {
	KeyID          string `json:"key_id"`
	Armored        string `json:"ascii_armor"`
	TrustSignature string `json:"trust_signature"`
}

type servedPackage struct {
	PackageSpec
	host   string // of the provider's address; "" means any
	sha256 [sha256.Size]byte
}

// catalogue holds the packages of a server.
type catalogue struct {
	mu       sync.Mutex
	packages []servedPackage
}

// add publishes a package for the provider's host, "" for any, and replaces one with the same
// identity. It panics if the archive can't be read.
func (c *catalogue) add(host string, p PackageSpec) {
	added := servedPackage{PackageSpec: withDefaults(p), host: host}
	sum, err := added.hash()
	if err != nil {
		panic(fmt.Sprintf("providertest: %s", err))
	}
	added.sha256 = sum

	c.mu.Lock()
	defer c.mu.Unlock()
	for i, have := range c.packages {
		if have.identity() == added.identity() {
			c.packages[i] = added
			return
		}
	}
	c.packages = append(c.packages, added)
}

func withDefaults(p PackageSpec) PackageSpec {
	if p.Platform == (getproviders.Platform{}) {
		p.Platform = getproviders.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
	}
	if p.Protocols == nil {
		p.Protocols = []string{"5.0"}
	}
	if p.Archive == nil && p.ArchivePath == "" {
		executable := fmt.Sprintf("terraform-provider-%s_v%s", p.Type, p.Version)
		p.Archive = Zip(map[string]string{executable: "not a real provider\n"})
	}
	return p
}

// identity returns the key by which add replaces packages.
func (p servedPackage) identity() [5]string {
	return [5]string{p.host, p.Namespace, p.Type, p.Version, p.Platform.OS + "_" + p.Platform.Arch}
}

// open returns the archive; the caller calls done after reading it.
func (p servedPackage) open() (archive io.ReadSeeker, done func(), err error) {
	if p.ArchivePath == "" {
		return bytes.NewReader(p.Archive), func() {}, nil
	}
	file, err := os.Open(p.ArchivePath)
	if err != nil {
		return nil, nil, err
	}
	return file, func() { _ = file.Close() }, nil
}

func (p servedPackage) hash() (sum [sha256.Size]byte, err error) {
	archive, done, err := p.open()
	if err != nil {
		return sum, err
	}
	defer done()
	h := sha256.New()
	if _, err := io.Copy(h, archive); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// archiveName doesn't use the package under test, so that the two check each other.
func (p servedPackage) archiveName() string {
	return fmt.Sprintf("terraform-provider-%s_%s_%s_%s.zip", p.Type, p.Version, p.Platform.OS, p.Platform.Arch)
}

// sumsName returns the name of the package's checksum list; with ".sig" it is that of the
// signature.
func (p servedPackage) sumsName() string {
	return fmt.Sprintf("terraform-provider-%s_%s_SHA256SUMS", p.Type, p.Version)
}

// provider returns the packages of one provider, in the order of add.
func (c *catalogue) provider(host, namespace, providerType string) []servedPackage {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []servedPackage
	for _, p := range c.packages {
		if p.host == host && p.Namespace == namespace && p.Type == providerType {
			found = append(found, p)
		}
	}
	return found
}

// version returns the packages of one version of a provider, for all platforms.
func (c *catalogue) version(host, namespace, providerType, version string) []servedPackage {
	return slices.DeleteFunc(c.provider(host, namespace, providerType), func(p servedPackage) bool {
		return p.Version != version
	})
}

// Zip makes a deterministic package archive of files (name to content); all have mode 0755. A name
// that ends with a slash is a directory.
func Zip(files map[string]string) []byte {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := &zip.FileHeader{
			Name:     name,
			Method:   zip.Deflate,
			Modified: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
		}
		header.SetMode(0o755)
		w, err := archive.CreateHeader(header)
		must(err)
		_, err = io.WriteString(w, files[name])
		must(err)
	}
	must(archive.Close())
	return out.Bytes()
}
