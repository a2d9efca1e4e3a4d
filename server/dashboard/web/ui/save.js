// Text and bytes as a file.

/** save gives them to the browser as a file. @param {BlobPart} content @param {string} name */
export function save(content, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content],
    { type: name.endsWith('.csv') ? 'text/csv' : 'application/octet-stream' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
