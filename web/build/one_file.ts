// Puts the script and the styles into the html, so that the page is one file. Their hashes go into the page's content
// security policy: nothing else on the page is ever executed, whatever the data say.
import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';

export const PLACEHOLDER = '<!--HINGE-REPORT-DATA-->';

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;

export function oneFile(): Plugin {
  return {
    name: 'one-file',
    enforce: 'post',
    generateBundle(_options, bundle) {
      let script = '';
      let style = '';
      let html: { source: string | Uint8Array } | undefined;
      for (const [name, item] of Object.entries(bundle)) {
        if (item.type === 'chunk') {
          script += item.code;
          delete bundle[name];
        } else if (name.endsWith('.css')) {
          style += String(item.source);
          delete bundle[name];
        } else if (name.endsWith('.html')) {
          html = item;
        }
      }
      if (!html) throw new Error('no html in the bundle');
      script = script.trim().replace(/<\/(script)/gi, '<\\/$1').replace(/<!--/g, '<\\!--');
      style = style.trim();
      const policy =
        `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; ` +
        `img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'`;
      const text = String(html.source)
        .replace(/<script type="module"[^>]*><\/script>\s*/g, '')
        .replace(/<link rel="stylesheet"[^>]*>\s*/g, '')
        .replace('<!--PAGE-POLICY-->', () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`)
        .replace('<!--PAGE-STYLE-->', () => `<style>${style}</style>`)
        .replace('<!--PAGE-SCRIPT-->', () => `<script type="module">${script}</script>`);
      if (text.split(PLACEHOLDER).length !== 2) throw new Error('the placeholder must be there exactly once');
      html.source = text;
    },
  };
}
