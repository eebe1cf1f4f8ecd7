package modulelock

import (
	"maps"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

const (
	hashA   = "h1:SsymTYPzwzdxRHUdcUnYiQe+FDH1nlMmHoOgbMVvoZQ="
	hashB   = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
	commit1 = "0123456789abcdef0123456789abcdef01234567"
	commit2 = "89abcdef0123456789abcdef0123456789abcdef"
)

var (
	network = Lock{Key: "net", Source: "registry.example.com/acme/net/cloud//sub", Version: "1.2.0", Hash: hashA}
	dns     = Lock{Key: "net.dns", Source: "git::https://git.example.com/dns.git?ref=v1", Commit: commit1, Hash: hashB}
)

func locksOf(all ...Lock) Locks {
	locks := Locks{}
	for _, lock := range all {
		locks.Set(lock)
	}
	return locks
}

func TestCheck(t *testing.T) {
	newer := network
	newer.Version, newer.Hash = "1.3.0", hashB
	moved := dns
	moved.Source, moved.Commit, moved.Hash = "git::https://git.example.com/dns.git?ref=v2", commit2, hashA
	tampered := dns
	tampered.Hash = hashA
	unknown := dns
	unknown.Commit = ""
	secret := dns
	secret.Source = "git::https://me:s3cret@git.example.com/dns.git?ref=v1&sshkey=s3cret"
	for name, c := range map[string]struct {
		locked    Locks
		installed []Lock
		want      []Finding
	}{
		"nothing": {nil, nil, nil},
		"first":   {nil, []Lock{network}, []Finding{{Key: "net", State: New, Installed: network}}},
		"same": {locksOf(dns, network), []Lock{dns, network}, []Finding{
			{Key: "net", State: Same, Locked: network, Installed: network}, {Key: "net.dns", State: Same, Locked: dns, Installed: dns},
		}},
		"new and gone": {locksOf(network), []Lock{dns}, []Finding{
			{Key: "net", State: Gone, Locked: network}, {Key: "net.dns", State: New, Installed: dns},
		}},
		"another version": {locksOf(network), []Lock{newer}, []Finding{
			{Key: "net", State: Changed, Fields: []string{"version", "hash"}, Locked: network, Installed: newer},
		}},
		"another source": {locksOf(dns), []Lock{moved}, []Finding{
			{Key: "net.dns", State: Changed, Fields: []string{"source", "commit", "hash"}, Locked: dns, Installed: moved},
		}},
		"other content": {locksOf(dns), []Lock{tampered}, []Finding{
			{Key: "net.dns", State: Changed, Fields: []string{"hash"}, Locked: dns, Installed: tampered},
		}},
		"a commit that isn't known": {locksOf(dns), []Lock{unknown}, []Finding{{Key: "net.dns", State: Same, Locked: dns, Installed: unknown}}},
		"a source with a secret":    {locksOf(dns), []Lock{secret}, []Finding{{Key: "net.dns", State: Same, Locked: dns, Installed: dns}}},
	} {
		must.DeepEqual(t, c.locked.Check(c.installed), c.want, name)
	}
}

func TestUpdated_KeepsWhatIsTheSame(t *testing.T) {
	unknown := dns
	unknown.Commit = ""
	late := network
	late.Commit = commit1
	got := locksOf(dns, network, Lock{Key: "old", Source: "a", Hash: hashA}).Updated([]Lock{unknown, late})
	if want := locksOf(dns, late); !maps.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got.All(), want.All())
	}
	tampered := unknown
	tampered.Hash = hashA
	must.Equal(t, locksOf(dns).Updated([]Lock{tampered})["net.dns"], tampered, "a commit that isn't that of the content stays")
}

func TestLocks_SourcesLoseTheirSecrets(t *testing.T) {
	for source, want := range map[string]string{
		"registry.example.com/acme/net/cloud//sub":                 "registry.example.com/acme/net/cloud//sub",
		"git::https://git.example.com/net.git//a/b?ref=v1&depth=1": "git::https://git.example.com/net.git//a/b?ref=v1&depth=1",
		"git::https://me:pw@git.example.com/net.git?ref=v1":        "git::https://git.example.com/net.git?ref=v1",
		"git::https://token@git.example.com/net.git":               "git::https://git.example.com/net.git",
		"git::ssh://git@git.example.com/net.git?sshkey=abc&ref=x":  "git::ssh://git@git.example.com/net.git?ref=x",
		"ssh://git:pw@git.example.com/net.git":                     "ssh://git@git.example.com/net.git",
		"https://x.example/n.zip?archive=zip&X-Signature=abc":      "https://x.example/n.zip?archive=zip",
		"oci://reg.example/net?tag=1.0":                            "oci://reg.example/net?tag=1.0",
		"https://x.example/n.zip?abc":                              "https://x.example/n.zip",
		"https://x.example/n.zip?checksum=file:https://u:p@h/SUMS": "https://x.example/n.zip",
		"https://x.example/n@1.zip#abc":                            "https://x.example/n@1.zip",
		"https://a@b:pw@x.example":                                 "https://x.example",
		"file:///srv/modules/net":                                  "file:///srv/modules/net",
	} {
		must.Equal(t, plainSource(source), want, source)
		must.Equal(t, plainSource(want), want, "at the second time")
	}
}
