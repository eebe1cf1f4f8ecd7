package fetch

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestMeta_TagOfAPage(t *testing.T) {
	for name, c := range map[string]struct{ page, want string }{
		"plain":           {`<html><head><meta name="terraform-get" content="https://h/n.zip"></head></html>`, "https://h/n.zip"},
		"upper case":      {`<HTML><HEAD><META NAME="terraform-get" CONTENT="https://h/n.zip">`, "https://h/n.zip"},
		"no html":         {`<meta content="https://h/n.zip?a=1&amp;b=2" name="terraform-get"/>`, "https://h/n.zip?a=1&b=2"},
		"bare ampersand":  {`<meta content="https://h/n.zip?a=1&b=2" name="terraform-get"/>`, "https://h/n.zip?a=1&b=2"},
		"no quotes":       {`<meta name=terraform-get content='https://h/n.zip'>`, "https://h/n.zip"},
		"second":          {`<meta name="terraform-get" content=""><meta name="x" content="y"><meta name="terraform-get" content="https://h/n.zip">`, "https://h/n.zip"},
		"void elements":   {`<!DOCTYPE html><head><link rel=x><br><title>a & b &nbsp;</title><meta name="terraform-get" content="https://h/n.zip">`, "https://h/n.zip"},
		"in the body":     {`<html><body><meta name="terraform-get" content="https://h/n.zip"></body>`, ""},
		"behind the head": {`<head></head><meta name="terraform-get" content="https://h/n.zip">`, ""},
		"other name":      {`<meta name="go-import" content="https://h/n.zip">`, ""},
		"charset":         {`<?xml version="1.0" encoding="latin1"?><meta name="terraform-get" content="https://h/n.zip">`, "https://h/n.zip"},
		"other version":   {`<?xml version="1.1"?><meta name="terraform-get" content="https://h/n.zip">`, ""},
		"text":            {"not a page", ""},
		"zip":             {"PK\x03\x04\x00\x00", ""},
		"empty":           {"", ""},
		"too far":         {strings.Repeat("<br>", 300) + `<meta name="terraform-get" content="https://h/n.zip">`, ""},
	} {
		must.Equal(t, must.Get(readMeta(strings.NewReader(c.page), 1000))(t, name), c.want, name)
	}
}

func TestMeta_PageThatBreaksOffIsAnError(t *testing.T) {
	page := io.MultiReader(strings.NewReader("<head><link"), iotest.ErrReader(io.ErrUnexpectedEOF))
	must.Fail(t, must.ErrorOf(readMeta(page, 1000)), io.ErrUnexpectedEOF)
}

func FuzzReadMeta(f *testing.F) {
	f.Add(`<head><meta name="terraform-get" content="https://h/n.zip">`)
	f.Add("<?xml version='1.1'?>")
	f.Add("<a b=c d><!-- <?x ?> ]]> &amp; &x;")
	f.Fuzz(func(t *testing.T, page string) {
		told := must.Get(readMeta(strings.NewReader(page), 1<<16))(t)
		if told != "" && !strings.Contains(page, "terraform-get") && !strings.Contains(page, "&") {
			t.Errorf("%q says nothing of %q", page, told)
		}
	})
}
