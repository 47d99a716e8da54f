/** Files that were dropped on the page or chosen, those in folders too, and in which order they are of use. */

/** Files of a folder that are looked at, at most. */
const MOST = 2000;
const MOTION = /\.(bvh|amc|glb|npz|c3d)$/i;
/** Companion files of a motion: an AMC's skeleton, and sidecars. */
const COMPANION = /\.(asf|marey\.json)$/i;

/** The dropped files; of folders, all that are motions or belong to one. To be called while the drop is handled. */
export function droppedFiles(data: DataTransfer): Promise<File[]> {
  const found: Promise<File[]>[] = [];
  for (const item of data.items) {
    if (item.kind !== "file") continue;
    const entry = item.webkitGetAsEntry?.();
    const file = item.getAsFile();
    if (entry?.isDirectory) found.push(filesBelow(entry as FileSystemDirectoryEntry));
    else if (file) found.push(Promise.resolve([file]));
  }
  return Promise.all(found).then((lists) => lists.flat());
}

/** First what belongs to motions, which is sent along but not opened, then the motions by name. */
export function inOrder(files: File[]): { file: File; opens: boolean }[] {
  const skeletonAlone = !files.some((file) => /\.amc$/i.test(file.name));
  return files
    .map((file) => ({ file, isCompanion: COMPANION.test(file.name), opens: !COMPANION.test(file.name) || (skeletonAlone && /\.asf$/i.test(file.name)) }))
    .sort((a, b) => Number(b.isCompanion) - Number(a.isCompanion) || a.file.name.localeCompare(b.file.name, "en", { numeric: true }));
}

async function filesBelow(folder: FileSystemDirectoryEntry): Promise<File[]> {
  const files: File[] = [];
  const folders = [folder];
  for (let next = folders.shift(); next && files.length < MOST; next = folders.shift()) {
    for (const entry of await entriesOf(next)) {
      if (entry.isDirectory) folders.push(entry as FileSystemDirectoryEntry);
      else if (MOTION.test(entry.name) || COMPANION.test(entry.name)) files.push(await fileOf(entry as FileSystemFileEntry));
    }
  }
  return files.slice(0, MOST);
}

/** All entries of a folder, which browsers hand out in parts. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
    if (!some.length || all.length > MOST) return all;
    all.push(...some);
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((done, fail) => entry.file(done, fail));
}
