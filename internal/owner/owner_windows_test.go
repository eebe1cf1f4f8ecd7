package owner

import (
	"testing"

	"golang.org/x/sys/windows"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestIsFor_CountsWhoMayChangeAnything(t *testing.T) {
	const user = "S-1-5-21-1-2-3-1001"
	sid := must.Get(windows.StringToSid(user))(t)
	const own = "O:" + user + "D:P(A;OICI;FA;;;" + user + ")(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"
	for descriptor, want := range map[string]bool{
		own:                                              true,
		own + "(A;OICI;FR;;;WD)":                         true,
		own + "(A;;0x1200a9;;;BU)":                       true,
		own + "(D;;FA;;;WD)":                             true,
		own + "(A;OICIIO;FA;;;CO)":                       true,
		own + "(A;;FA;;;CO)":                             false,
		own + "(A;;FA;;;WD)":                             false,
		own + "(A;;FW;;;BU)":                             false,
		own + "(A;;GW;;;BU)":                             false,
		own + "(A;;GA;;;BU)":                             false,
		own + "(A;;0x2;;;BU)":                            false, // adds files
		own + "(A;;0x4;;;AU)":                            false, // adds directories
		own + "(A;;0x40;;;BU)":                           false, // removes what is in it
		own + "(A;;SD;;;BU)":                             false,
		own + "(A;;WD;;;BU)":                             false,
		own + "(A;;WO;;;BU)":                             false,
		own + "(A;OICIIO;FA;;;BU)":                       false,
		"O:BAD:P(A;;FA;;;BA)":                            true,
		"O:BUD:P(A;;FA;;;" + user + ")":                  false,
		"O:" + user:                                      false, // no list: everybody may do everything
		"D:P(A;OICI;FA;;;" + user + ")":                  false,
		"O:S-1-5-21-1-2-3-1002D:P":                       false,
		"O:" + user + "D:P(A;;FW;;;S-1-5-21-1-2-3-1002)": false,
	} {
		must.Equal(t, isFor(must.Get(windows.SecurityDescriptorFromString(descriptor))(t), sid), want, descriptor)
	}
}
