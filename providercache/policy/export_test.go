package policy

// What the tests are about beside the names that programs have.
type Candidate = candidate

var Parse = parse

func (p Policy) Check(c Candidate) *Refusal { return p.check(c) }
