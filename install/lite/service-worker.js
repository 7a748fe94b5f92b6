// The service worker of the site. It keeps what the site has sent, so that the site works without a network after the first visit. The network comes
// first: readers see what has changed. JupyterLite's own service worker answers the other requests.
const reply = async event => {
  const { request } = event, kept = await caches.open('halfnote');
  try {
    const response = await fetch(request);
    if (response.status === 200) event.waitUntil(kept.put(request, response.clone()));
    return response;
  } catch (error) {
    const old = await kept.match(request, { ignoreSearch: true });
    if (old) return old;
    throw error;
  }
};

addEventListener('fetch', event => {
  const { request } = event, url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== location.origin || /\/api\/(drive|stdin|service-worker-heartbeat)/.test(url.pathname)) return;
  event.stopImmediatePropagation();
  event.respondWith(reply(event));
});

importScripts('jupyterlite-service-worker.js' + location.search);
