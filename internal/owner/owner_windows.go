package owner

import (
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// OpenPlain is 0, as this system has no such flags.
const OpenPlain = 0

// IsPrivate reports whether a file or directory belongs to the user who runs this program, and no
// other user but administrators can change it.
func IsPrivate(path string, _ fs.FileInfo) bool { return Exclusive(path) }

// IsSecret is IsPrivate for a file without a further hard link. Who may read files depends on the access list of
// their directory.
func IsSecret(path string, _ fs.FileInfo) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	var about windows.ByHandleFileInformation
	err = windows.GetFileInformationByHandle(windows.Handle(file.Fd()), &about)
	return err == nil && about.NumberOfLinks == 1 && Exclusive(path)
}

// IsRoots is false: caches that belong to the system are a matter of container images, and of other
// systems.
func IsRoots(fs.FileInfo) bool { return false }

// CanWrite is true: it matters for container images, too.
func CanWrite(string) bool { return true }

// IsOwn is true: it is for hard links, which need no ownership here.
func IsOwn(fs.FileInfo) bool { return true }

// Chmod replaces the access list of a directory if the mode is for its user alone: then only the user, the system and the
// administrators have access to the directory, and to all that is made in it later. Other modes change nothing.
func Chmod(dir string, mode fs.FileMode) error {
	if mode&0o077 != 0 {
		return nil
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return err
	}
	descriptor, err := windows.SecurityDescriptorFromString("D:P(A;OICI;FA;;;" + user.User.Sid.String() + ")(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)")
	if err != nil {
		return err
	}
	list, _, err := descriptor.DACL()
	if err != nil {
		return err
	}
	return windows.SetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, list, nil)
}

// Exclusive reports whether the access list of a file or directory lets only the user, the system and the administrators
// change it. Entries that files made in the directory will inherit count, too. A user who may write to a file here may
// also set its ctime.
func Exclusive(path string) bool {
	descriptor, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return false
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	return err == nil && isFor(descriptor, user.User.Sid)
}

// isFor reports whether a descriptor, with its owner and access list, lets no other user change anything.
func isFor(descriptor *windows.SECURITY_DESCRIPTOR, user *windows.SID) bool {
	owner, _, err := descriptor.Owner()
	if err != nil || owner == nil || !mayChange(owner, user) {
		return false
	}
	list, _, err := descriptor.DACL()
	if err != nil || list == nil { // a missing list lets everybody do everything
		return false
	}
	for i := range uint32(list.AceCount) {
		if !entryIsOurs(list, i, user) {
			return false
		}
	}
	return true
}

// isOwnWay ignores the directories above, whose lists let everybody read at least.
func isOwnWay(dir string, _ int, _ func(string) bool) bool { return Exclusive(dir) }

// deleteChild is FILE_DELETE_CHILD.
const deleteChild = 0x40

// changes are the rights to change a file, the content of a directory, or the access list.
const changes = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.FILE_WRITE_EA | windows.FILE_WRITE_ATTRIBUTES |
	deleteChild | windows.DELETE | windows.WRITE_DAC | windows.WRITE_OWNER | windows.GENERIC_WRITE | windows.GENERIC_ALL

// entryIsOurs reports whether an entry of an access list lets no other user change anything. It
// returns false for unknown types of entries.
func entryIsOurs(list *windows.ACL, i uint32, user *windows.SID) bool {
	var entry *windows.ACCESS_ALLOWED_ACE
	if windows.GetAce(list, i, &entry) != nil || entry == nil {
		return false
	}
	switch entry.Header.AceType {
	case windows.ACCESS_DENIED_ACE_TYPE:
		return true
	case windows.ACCESS_ALLOWED_ACE_TYPE:
	default:
		return false
	}
	if entry.Mask&changes == 0 {
		return true
	}
	sid := (*windows.SID)(unsafe.Pointer(&entry.SidStart))
	inheritOnly := entry.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0
	return mayChange(sid, user) || inheritOnly && sid.IsWellKnown(windows.WinCreatorOwnerSid)
}

func mayChange(sid, user *windows.SID) bool {
	return sid.Equals(user) || sid.IsWellKnown(windows.WinLocalSystemSid) || sid.IsWellKnown(windows.WinBuiltinAdministratorsSid)
}
