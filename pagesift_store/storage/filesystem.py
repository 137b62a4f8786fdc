"""Where a file lies: several processes can share a store only where they share memory, which no network carries.

The write-ahead log is read through a shared-memory file. On a network file system two machines would each have their
own, and the store would be damaged without a word (https://www.sqlite.org/wal.html, 2).
"""

from __future__ import annotations

import os
import re
import warnings
from functools import cache
from pathlib import Path

from pagesift_store.errors import StoreUnreachable, UnknownFileSystem

MOUNTS = Path("/proc/self/mountinfo")
"""See proc(5); where there is no such file nothing is known, and nothing is refused."""

NETWORK = frozenset(
    """
    9p acfs afs beegfs ceph cifs coda davfs fuse.ceph fuse.cephfs fuse.davfs2 fuse.gcsfuse fuse.glusterfs
    fuse.goofys fuse.juicefs fuse.lizardfs fuse.moosefs fuse.mount.s3 fuse.rclone fuse.s3fs fuse.sshfs gfs2
    glusterfs gpfs lustre ncpfs nfs nfs4 ocfs2 orangefs panfs pvfs2 smb2 smb3 smbfs vboxsf vmhgfs fuse.vmhgfs-fuse
    """.split()  # noqa: SIM905
)
"""Types whose files are elsewhere: another machine, or the host of a virtual one."""

LOCAL = frozenset(
    """
    apfs bcachefs btrfs exfat ext2 ext3 ext4 f2fs fuse.fuse-overlayfs fuseblk hfs hfsplus jfs msdos nilfs2 ntfs ntfs3
    overlay ramfs reiserfs squashfs tmpfs ubifs ufs vfat virtiofs xfs zfs
    """.split()  # noqa: SIM905
)
"""Types whose files are here."""


def kind_of(path: Path) -> str | None:
    """The type of the file system that holds a path; None where the system does not tell."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    folder = path.parent.resolve()
    best, found = -1, None
    for line in lines:
        before, _, after = line.partition(" - ")
        point = Path(_unescaped(before.split(" ")[4]))
        # Of two mounts on one point the later one is seen.
        if folder.is_relative_to(point) and len(point.parts) >= best:
            best, found = len(point.parts), after.split(" ")[0]
    return found


def require_shared_memory(path: Path) -> None:
    """Refuse a file that is kept with a write-ahead log and whose processes might be on several machines.

    One that somebody has switched to a rollback journal is let pass: that needs no shared memory.

    A type that is not known here brings a warning (`UnknownFileSystem`), not a refusal.

    Raises:
        StoreUnreachable: a network file system; the message names the ways out.
    """
    kind = kind_of(path)
    if kind is None or kind in LOCAL or _has_rollback_journal(path):
        return
    if kind in NETWORK:
        raise StoreUnreachable(
            f"{path} is on a network file system ({kind}), where a store is damaged as soon as two machines use it; "
            "put it on a local disk, or see 'Network file systems' in docs/store.md"
        )
    warnings.warn(
        f"cannot tell whether {path} is on a local disk: its file system is {kind!r}; on one of a network the store "
        "would be damaged",
        UnknownFileSystem,
        stacklevel=2,
    )


@cache
def _has_rollback_journal(path: Path) -> bool:
    """Whether the header says that there is no log; False where there is no file yet."""
    try:
        # Never closed: that would drop every lock that this process holds on the file.
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    return os.pread(handle, 2, 18) == b"\x01\x01"


def _unescaped(text: str) -> str:
    r"""Blanks and backslashes are octal there: `\\040`."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)
