package getproviders

import (
	"maps"
	"strings"
	"testing"
)

func TestSignedDocuments_Archives(t *testing.T) {
	p, v := Provider{Hostname: defaultHost, Namespace: "acme", Type: "widget"}, MustParseVersion("1.0.0")
	sum := strings.Repeat("ab", 32)
	list := sum + "  terraform-provider-widget_1.0.0_linux_amd64.zip\n" +
		strings.ToUpper(sum) + "  terraform-provider-widget_1.0.0_darwin_arm64.zip\n" +
		sum + "  terraform-provider-widget_1.0.1_linux_arm64.zip\n" + // of another version
		sum + "  terraform-provider-gadget_1.0.0_linux_arm64.zip\n" + // of another provider
		sum + "  terraform-provider-widget_1.0.0_windows_amd64_SIGNED.zip\n" + // no name of a package
		sum + "  terraform-provider-widget_1.0.0_manifest.json\n" +
		"none  terraform-provider-widget_1.0.0_linux_arm.zip\n\n"
	zh := Hash("zh:" + sum)
	want := map[Platform]Hash{{"linux", "amd64"}: zh, {"darwin", "arm64"}: zh}
	if got := (SignedDocuments{Sums: []byte(list)}).Archives(p, v); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSignedDocuments_Covers(t *testing.T) {
	p, v := Provider{Hostname: defaultHost, Namespace: "acme", Type: "widget"}, MustParseVersion("1.0.0")
	sum, other := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	d := SignedDocuments{Sums: []byte(sum + "  terraform-provider-widget_1.0.0_linux_amd64.zip\n")}
	linux, darwin := Platform{"linux", "amd64"}, Platform{"darwin", "arm64"}
	if !d.Covers(p, v, linux, Hash("zh:"+sum)) {
		t.Error("what it lists isn't covered")
	}
	if d.Covers(p, v, linux, Hash("zh:"+other)) || d.Covers(p, v, darwin, Hash("zh:"+sum)) || d.Covers(p, v, linux, "") || (SignedDocuments{}).Covers(p, v, linux, Hash("zh:"+sum)) {
		t.Error("another archive, another platform, no checksum or no list is covered")
	}
}
