package getproviders

import _ "embed"

// SigningKeys are the keys that decide between the trust levels of signed packages.
// They vouch for no package alone: one has to be signed by a key that its
// registry names, too. Where a field is empty nothing reaches that level; the
// zero value takes every signed package for LevelCommunity.
type SigningKeys struct {
	Official string // ASCII-armored: a signature by it is LevelOfficial
	Partner  string // ASCII-armored: its trust signature over a key makes LevelPartner
}

//go:embed keys/hashicorp-security.asc
var hashicorpSecurityKey string

//go:embed keys/hashicorp-partners.asc
var hashicorpPartnersKey string

// DefaultSigningKeys returns HashiCorp's public keys as they are published:
// the one that signs its own releases, and the one by which its partner
// programme vouches for the keys of others.
func DefaultSigningKeys() SigningKeys {
	return SigningKeys{Official: hashicorpSecurityKey, Partner: hashicorpPartnersKey}
}
