package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"aead.dev/minisign"
)

// readKey reads a secret key of minisign without a password: the secret store of CI protects it.
func readKey(name string) (*minisign.PrivateKey, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	key := new(minisign.PrivateKey)
	if minisign.IsEncrypted(text) {
		return nil, fmt.Errorf("the key in %s has a password: make one without, by minisign -G -W", name)
	}
	if err := key.UnmarshalText(text); err != nil {
		return nil, fmt.Errorf("%s has no secret key of minisign: %w", name, err)
	}
	return key, nil
}

// publicText returns the public key in the form of minisign -P, for the install scripts.
func publicText(key *minisign.PrivateKey) string { return key.Public().(minisign.PublicKey).String() }

// signList signs SHA256SUMS, with the version in a comment, which minisign shows. It uses minisign's legacy scheme without prehashing,
// so that OpenSSL can verify it, too. A list of another version is recognized by the names of its archives.
func signList(o options, dist, sums string) error {
	if o.key == nil {
		return nil
	}
	return writeFile(filepath.Join(dist, "SHA256SUMS.minisig"), minisign.SignWithComments(*o.key, []byte(sums), "tfdeps "+o.version, "tfdeps "+o.version))
}

// provenanceType is the payload type of the DSSE envelope.
const provenanceType = "application/vnd.in-toto+json"

// writeProvenance writes an in-toto statement about all files of SHA256SUMS: the commit from which they were made, and the version of Go. It is
// in a DSSE envelope, signed by the key of the release if there is one.
func writeProvenance(s source, o options, dist, sums string) error {
	type digest map[string]string
	var subjects []any
	for line := range strings.Lines(sums) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		subjects = append(subjects, map[string]any{"name": name, "digest": digest{"sha256": sum}})
	}
	const repository = "https://github.com/tfdeps/tfdeps"
	statement, err := json.Marshal(map[string]any{
		"_type": "https://in-toto.io/Statement/v1", "subject": subjects, "predicateType": "https://slsa.dev/provenance/v1",
		"predicate": map[string]any{
			"buildDefinition": map[string]any{
				"buildType":          repository + "/tree/main/.release",
				"externalParameters": map[string]string{"version": o.version, "command": "go run -C .release . " + o.version},
				"internalParameters": map[string]string{"go": runtime.Version()},
				"resolvedDependencies": []any{
					map[string]any{"uri": "git+" + repository + "@refs/tags/" + o.version, "digest": digest{"gitCommit": s.commit}},
				},
			},
			"runDetails": map[string]any{"builder": map[string]string{"id": repository + "/blob/main/.github/workflows/release.yml"}},
		},
	})
	if err != nil {
		return err
	}
	signatures := []any{}
	if o.key != nil {
		var signed minisign.Signature
		if err := signed.UnmarshalText(minisign.Sign(*o.key, encodedForSigning(statement))); err != nil {
			return err
		}
		signatures = append(signatures, map[string]string{"keyid": fmt.Sprintf("%X", o.key.ID()), "sig": base64.StdEncoding.EncodeToString(signed.Signature[:])})
	}
	envelope, err := json.Marshal(map[string]any{
		"payloadType": provenanceType, "payload": base64.StdEncoding.EncodeToString(statement), "signatures": signatures,
	})
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dist, "tfdeps_"+strings.TrimPrefix(o.version, "v")+".intoto.jsonl"), append(envelope, '\n'))
}

// encodedForSigning returns the bytes that DSSE signs: the type and the payload, each with its length.
func encodedForSigning(payload []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "DSSEv1 %d %s %d %s", len(provenanceType), provenanceType, len(payload), payload)
	return b.Bytes()
}
