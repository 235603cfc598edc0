// Builds the page as one file: script and style are inside, and a policy lets nothing else in. With HOMOLOG_LEARNER, a WebAssembly module
// of crates/homolog-wasm, it is the static page: that module and its worker are inside too.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Plugin, defineConfig } from 'vite';

const LEARNER = process.env['HOMOLOG_LEARNER'];
const PAGE = resolve(import.meta.dirname, process.env['HOMOLOG_PAGE'] ?? '../crates/homolog-cli/src/label/page.html');

/** `import packed from 'virtual:learner'`: the learner, compressed, as text. */
function learner(): Plugin {
  return {
    name: 'learner',
    transformIndexHtml: { order: 'pre', handler: (html) => (LEARNER === undefined ? html : html.replace('/main.ts', '/static.ts')) },
    resolveId: (id) => (id === 'virtual:learner' ? `\0${id}` : null),
    load(id) {
      if (id !== '\0virtual:learner' || LEARNER === undefined) return null;
      const packed = gzipSync(readFileSync(LEARNER), { level: 9 });
      // Which system compressed it is no part of the page.
      packed[9] = 255;
      return `export default ${JSON.stringify(packed.toString('base64'))};`;
    },
  };
}

/** Everything into one file. */
function oneFile(): Plugin {
  return {
    name: 'one-file',
    enforce: 'post',
    generateBundle(_, bundle) {
      const files = Object.values(bundle);
      const text = (end: string) =>
        files
          .filter((file) => file.fileName.endsWith(end))
          .map((file) => (file.type === 'chunk' ? file.code : String(file.source)))
          .join('\n');
      const script = text('.js').replaceAll('</script', '<\\/script').trim();
      const style = text('.css').trim();
      const digest = (content: string) => `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
      const policy = [
        "default-src 'none'",
        `script-src ${digest(script)}${LEARNER === undefined ? '' : " 'wasm-unsafe-eval'"}`,
        `style-src ${digest(style)}`,
        LEARNER === undefined ? "connect-src 'self'" : 'worker-src blob:',
        "base-uri 'none'",
        "form-action 'none'",
      ].join('; ');
      const html = text('.html')
        .replace(/\s*<link rel="stylesheet"[^>]*>/g, '')
        .replace(/\s*<script type="module"[^>]*><\/script>/g, '')
        .replace('<head>', () => `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`)
        .replace('</head>', () => `<style>${style}</style>\n  </head>`)
        .replace('</body>', () => `<script type="module">${script}</script>\n  </body>`);
      mkdirSync(dirname(PAGE), { recursive: true });
      writeFileSync(PAGE, html);
      for (const name of Object.keys(bundle)) delete bundle[name];
    },
  };
}

export default defineConfig({
  plugins: [learner(), oneFile()],
  build: { target: 'es2022', cssCodeSplit: false, assetsInlineLimit: Infinity, modulePreload: false, emptyOutDir: false },
  // A page opened as a file may start classic workers only.
  worker: { format: 'iife' },
});
