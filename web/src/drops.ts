/** Collect dropped or chosen files, including those in folders, and sort them for loading. */

/** Maximum number of files read from a folder. */
const MAX_FILES = 2000;
const MOTION = /\.(bvh|amc|fbx|glb|npz|c3d)$/i;
/** Companion files of motions: the skeleton of an AMC file, and sidecars. */
const COMPANION = /\.(asf|marey\.json)$/i;

/** Return the dropped files; of folders, all motions and companion files. Call it while the drop event is handled. */
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

/** Sort files: first companion files, which are uploaded but not opened, then motions by name. */
export function inOrder(files: File[]): { file: File; opens: boolean }[] {
  const skeletonAlone = !files.some((file) => /\.amc$/i.test(file.name));
  return files
    .map((file) => ({ file, isCompanion: COMPANION.test(file.name), opens: !COMPANION.test(file.name) || (skeletonAlone && /\.asf$/i.test(file.name)) }))
    .sort((a, b) => Number(b.isCompanion) - Number(a.isCompanion) || a.file.name.localeCompare(b.file.name, "en", { numeric: true }));
}

async function filesBelow(folder: FileSystemDirectoryEntry): Promise<File[]> {
  const files: File[] = [];
  const folders = [folder];
  for (let next = folders.shift(); next && files.length < MAX_FILES; next = folders.shift()) {
    for (const entry of await entriesOf(next)) {
      if (entry.isDirectory) folders.push(entry as FileSystemDirectoryEntry);
      else if (MOTION.test(entry.name) || COMPANION.test(entry.name)) files.push(await fileOf(entry as FileSystemFileEntry));
    }
  }
  return files.slice(0, MAX_FILES);
}

/** Read all entries of a folder, which browsers return in chunks. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
    if (!some.length || all.length > MAX_FILES) return all;
    all.push(...some);
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((done, fail) => entry.file(done, fail));
}
