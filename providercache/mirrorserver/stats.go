package mirrorserver

import (
	"sync/atomic"

	"github.com/tfdeps/tfdeps/internal/disk"
)

// Stat is something that a server has counted since it was made, or has now.
type Stat struct {
	Name  string // as in Prometheus' text, labels included: archives_total{from="store"}. What only grows ends with _total.
	Help  string
	Value int64
}

// Stats returns what the server has done, and what it does. Those of one name are beside each other.
func (s *Server) Stats() (all []Stat) {
	c := &s.counts
	for _, row := range []struct {
		name, help string
		value      *atomic.Int64
	}{
		{"requests_total", "Requests.", &c.requests},
		{"requests_running", "Requests that are being answered.", &s.running},
		{"documents_total", "Answers with a document, those included that say that nothing has changed.", &c.documents},
		{`archives_total{from="store"}`, "Archives that were sent, from the store or while they were downloaded.", &c.stored},
		{`archives_total{from="upstream"}`, "", &c.fetched},
		{`archive_bytes_total{from="store"}`, "Bytes of archives that were sent.", &c.storedSize},
		{`archive_bytes_total{from="upstream"}`, "", &c.fetchedSize},
		{"coalesced_total", "Requests that shared a download which another request had begun.", &c.coalesced},
		{"downloads_total", "Downloads of archives.", &c.downloads},
		{"downloads_running", "Downloads that run or wait.", &c.downloading},
		{"downloaded_bytes_total", "Bytes of archives that were downloaded whole.", &c.downloadedSize},
		{"verify_failures_total", "Answers with an archive that wasn't authentic.", &c.refusedArchives},
		{"damaged_total", "Archives of the store that weren't what they were when they were stored, and were removed to be downloaded again.", &c.damaged},
		{"policy_refusals_total", "Answers that the policy has refused.", &c.refusedByPolicy},
		{`failures_total{kind="not_found"}`, "Answers that were errors, by kind.", &c.notFound},
		{`failures_total{kind="failed"}`, "", &c.failed},
		{`failures_total{kind="broken_off"}`, "", &c.broken},
		{"stale_total", "Older answers of upstreams that counted because they failed.", &c.stale},
		{"source_failures_total", "Failures of upstreams where nothing was known.", &c.sourceFailures},
		{"store_failures_total", "Failures to write the store.", &c.storeFailures},
		{`limited_total{limit="requests"}`, "Requests that were refused because of a limit.", &c.tooManyRequests},
		{`limited_total{limit="downloads"}`, "", &c.tooManyDownloads},
		{`limited_total{limit="memory"}`, "", &c.tooMuchMemory},
		{`limited_total{limit="disk"}`, "", &c.tooMuchDisk},
		{"arriving_bytes", "What the archives that arrive are going to take of the disk.", &c.arriving},
		{"disk_full_total", "Archives for which there was no room, where they arrive or in the store.", &c.diskFull},
		{"removed_total", "Archives that were removed.", &c.removed},
		{"removed_bytes_total", "Their bytes.", &c.removedSize},
	} {
		all = append(all, Stat{row.name, row.help, row.value.Load()})
	}
	if free, known := disk.Room(s.opts.Temporary); known {
		all = append(all, Stat{"disk_free_bytes", "Room for archives while they arrive.", free})
	}
	return all
}
