package owner

import (
	"io/fs"
	"unsafe"

	"golang.org/x/sys/windows"
)

// OpenPlain: there are no such flags here.
const OpenPlain = 0

// IsPrivate reports whether a file or directory belongs to who runs this
// program, and no other user (but administrators) may do anything with it.
func IsPrivate(path string, _ fs.FileInfo) bool { return Exclusive(path) }

// IsRoots: a cache that is part of the system is a matter of images, and of
// other systems.
func IsRoots(fs.FileInfo) bool { return false }

// CanWrite is about images, too.
func CanWrite(string) bool { return true }

// IsOwn is for hard links, which need no ownership here.
func IsOwn(fs.FileInfo) bool { return true }

// Exclusive reports whether the access list of a file or directory names the
// user, the system and the administrators, and to no one else. That counts what is
// only for files to be made in the directory. A user who may write to a file here
// may set its time of change.
func Exclusive(path string) bool {
	descriptor, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return false
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return false
	}
	owner, _, err := descriptor.Owner()
	if err != nil || owner == nil || !mayChange(owner, user.User.Sid) {
		return false
	}
	list, _, err := descriptor.DACL()
	if err != nil || list == nil { // no list: everybody may do everything
		return false
	}
	for i := range uint32(list.AceCount) {
		if !entryIsOurs(list, i, user.User.Sid) {
			return false
		}
	}
	return true
}

// isOwnWay doesn't ask about the directories above: their lists let everybody
// read, at least.
func isOwnWay(dir string, _ int, _ func(string) bool) bool { return Exclusive(dir) }

// entryIsOurs reports whether an entry of an access list gives nothing to
// any other user. Kinds of entries that aren't known may give something.
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
	sid := (*windows.SID)(unsafe.Pointer(&entry.SidStart))
	inheritOnly := entry.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0
	return mayChange(sid, user) || inheritOnly && sid.IsWellKnown(windows.WinCreatorOwnerSid)
}

func mayChange(sid, user *windows.SID) bool {
	return sid.Equals(user) || sid.IsWellKnown(windows.WinLocalSystemSid) || sid.IsWellKnown(windows.WinBuiltinAdministratorsSid)
}
