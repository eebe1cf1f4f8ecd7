package fetch

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestMeta_TagOfAPage(t *testing.T) {
	for page, want := range map[string]string{
		`<html><head><meta name="terraform-get" content="https://h/n.zip"></head></html>`:                                        "https://h/n.zip",         // plain
		`<HTML><HEAD><META NAME="terraform-get" CONTENT="https://h/n.zip">`:                                                      "https://h/n.zip",         // upper case
		`<meta content="https://h/n.zip?a=1&amp;b=2" name="terraform-get"/>`:                                                     "https://h/n.zip?a=1&b=2", // no html
		`<meta content="https://h/n.zip?a=1&b=2" name="terraform-get"/>`:                                                         "https://h/n.zip?a=1&b=2", // bare ampersand
		`<meta name=terraform-get content='https://h/n.zip'>`:                                                                    "https://h/n.zip",         // no quotes
		`<meta name="terraform-get" content=""><meta name="x" content="y"><meta name="terraform-get" content="https://h/n.zip">`: "https://h/n.zip",         // second
		`<!DOCTYPE html><head><link rel=x><br><title>a & b &nbsp;</title><meta name="terraform-get" content="https://h/n.zip">`:  "https://h/n.zip",         // void elements
		`<html><body><meta name="terraform-get" content="https://h/n.zip"></body>`:                                               "",                        // in the body
		`<head></head><meta name="terraform-get" content="https://h/n.zip">`:                                                     "",                        // behind the head
		`<meta name="go-import" content="https://h/n.zip">`:                                                                      "",                        // other name
		`<?xml version="1.0" encoding="latin1"?><meta name="terraform-get" content="https://h/n.zip">`:                           "https://h/n.zip",         // charset
		`<?xml version="1.1"?><meta name="terraform-get" content="https://h/n.zip">`:                                             "",                        // other version
		"not a page":         "", // text
		"PK\x03\x04\x00\x00": "", // zip
		"":                   "", // empty
		strings.Repeat("<br>", 300) + `<meta name="terraform-get" content="https://h/n.zip">`: "", // too far
	} {
		must.Equal(t, must.Get(readMeta(strings.NewReader(page), 1000))(t, page), want, page)
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
