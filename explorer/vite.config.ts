import { defineConfig } from 'vite';

/** A running server: the dev server and the preview hand on to it what is not a file of the page. */
const server = process.env['ARMILLA'] ?? 'http://127.0.0.1:8081';

const handedOn = {
  target: server,
  // The server knows itself by its own name, and refuses pages of other origins.
  changeOrigin: true,
  secure: false,
  headers: { origin: '' },
  configure(proxy: { on(event: 'proxyReq', listener: (request: { removeHeader(name: string): void }) => void): void }) {
    proxy.on('proxyReq', (request) => {
      request.removeHeader('origin');
      request.removeHeader('referer');
      request.removeHeader('sec-fetch-site');
    });
  },
};

const PATHS = ['rest', 'session', 'mongo', 'gremlin', 'table'];

const proxy = Object.fromEntries(PATHS.map((path) => [`/_explorer/${path}`, handedOn]));

export default defineConfig({
  base: '/_explorer/',
  // The policy of the page permits none: libraries that would try it take their other way at once, without a report of the browser.
  define: { WebAssembly: 'undefined' },
  build: {
    target: 'es2022',
    // The policy of the page permits neither inline scripts nor inlined fonts.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: true,
  },
  server: { proxy },
  preview: { proxy },
});
