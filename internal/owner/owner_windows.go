package owner

import (
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// OpenPlain: there are no such flags here.
const OpenPlain = 0

// IsPrivate reports whether a file or directory belongs to who runs this
// program, and no other user but administrators can change it.
func IsPrivate(path string, _ fs.FileInfo) bool { return Exclusive(path) }

// IsSecret is IsPrivate for a file without a second name: the access list of what holds files says who may read them.
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

// IsRoots: a cache that is part of the system is a matter of images, and of
// other systems.
func IsRoots(fs.FileInfo) bool { return false }

// CanWrite is about images, too.
func CanWrite(string) bool { return true }

// IsOwn is for hard links, which need no ownership here.
func IsOwn(fs.FileInfo) bool { return true }

// Chmod makes the access list of a directory that is for its user alone, and of all that is made in it later: the user's,
// the system's and the administrators'. Other modes change nothing.
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
// change it. That counts what is only for files to be made in the directory. A user who may write to a file here may set
// its time of change.
func Exclusive(path string) bool {
	descriptor, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return false
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	return err == nil && isFor(descriptor, user.User.Sid)
}

// isFor reports whether a descriptor with its owner and its access list lets no other user change anything.
func isFor(descriptor *windows.SECURITY_DESCRIPTOR, user *windows.SID) bool {
	owner, _, err := descriptor.Owner()
	if err != nil || owner == nil || !mayChange(owner, user) {
		return false
	}
	list, _, err := descriptor.DACL()
	if err != nil || list == nil { // no list: everybody may do everything
		return false
	}
	for i := range uint32(list.AceCount) {
		if !entryIsOurs(list, i, user) {
			return false
		}
	}
	return true
}

// isOwnWay doesn't ask about the directories above: their lists let everybody
// read, at least.
func isOwnWay(dir string, _ int, _ func(string) bool) bool { return Exclusive(dir) }

// deleteChild is what Windows calls FILE_DELETE_CHILD.
const deleteChild = 0x40

// changes are the rights to change a file, or what is in a directory, or who may.
const changes = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.FILE_WRITE_EA | windows.FILE_WRITE_ATTRIBUTES |
	deleteChild | windows.DELETE | windows.WRITE_DAC | windows.WRITE_OWNER | windows.GENERIC_WRITE | windows.GENERIC_ALL

// entryIsOurs reports whether an entry of an access list lets no other user change
// anything. Kinds of entries that aren't known may do that.
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
