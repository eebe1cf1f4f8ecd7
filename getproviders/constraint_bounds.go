package getproviders

// ConstraintBound is a requirement with the newest version that it allows.
type ConstraintBound struct {
	Requirement
	// Newest is the newest version that the requirement allows by itself. It
	// is zero if there is none.
	Newest Version
}

// Conflict says which versions the requirements on one provider allow.
type Conflict struct {
	Bounds []ConstraintBound // of all requirements, in their order
	// Minimal are those of Bounds that leave no version between them: as few
	// as can be, and of equally few the first. If it takes more than a handful,
	// or there are very many requirements, it may be that fewer would do; yet
	// none of them can be left out. It is empty if there is no conflict, also
	// where there is no version in the first place.
	Minimal []ConstraintBound
}
