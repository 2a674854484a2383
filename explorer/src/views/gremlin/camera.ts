//! What of a drawing is seen: dragged, and zoomed by wheel, fingers and buttons.

import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';

import { round, type Node } from './graph';

const LEAST = 0.1;
const MOST = 4;
/** A small graph is not blown up. */
const FIT_MOST = 1.25;
/** Room around the vertices, and for the texts below them. */
const MARGIN = 26;
const TEXT_ASIDE = 44;
const TEXT_BELOW = 18;

export interface Camera {
  view: RefObject<SVGGElement | null>;
  scale(): number;
  zoom(by: number): void;
  /** Shows everything, and goes on doing so until the reader looks elsewhere. */
  fit(): void;
  /** Called when something moved. */
  follow(): void;
  /** The reader has taken over. */
  keep(): void;
  pan(event: PointerEvent): void;
}

export function useCamera(svg: RefObject<SVGSVGElement | null>, nodes: () => Iterable<Node>): Camera {
  const view = useRef<SVGGElement>(null);
  const latest = useRef(nodes);
  latest.current = nodes;

  const camera = useMemo(() => {
    const at = { x: 0, y: 0, k: 1, isFollowing: true };
    const show = () => view.current?.setAttribute('transform', `translate(${round(at.x)},${round(at.y)}) scale(${at.k.toFixed(3)})`);
    const zoomAt = (by: number, x: number, y: number) => {
      const k = Math.min(MOST, Math.max(LEAST, at.k * by));
      at.x = x - ((x - at.x) * k) / at.k;
      at.y = y - ((y - at.y) * k) / at.k;
      at.k = k;
      at.isFollowing = false;
      show();
    };
    const follow = () => {
      const element = svg.current;
      if (!at.isFollowing || !element) return;
      const all = [...latest.current()];
      if (all.length === 0) return;
      const [left, right] = [Math.min(...all.map((one) => one.x)) - TEXT_ASIDE, Math.max(...all.map((one) => one.x)) + TEXT_ASIDE];
      const [top, bottom] = [Math.min(...all.map((one) => one.y)), Math.max(...all.map((one) => one.y)) + TEXT_BELOW];
      const { clientWidth: width, clientHeight: height } = element;
      const k = Math.min(FIT_MOST, (width - 2 * MARGIN) / (right - left || 1), (height - 2 * MARGIN) / (bottom - top || 1));
      at.k = Math.max(LEAST, k);
      at.x = width / 2 - ((left + right) / 2) * at.k;
      at.y = height / 2 - ((top + bottom) / 2) * at.k;
      show();
    };
    const pointers = new Map<number, { x: number; y: number }>();
    return {
      view,
      scale: () => at.k,
      zoom: (by: number) => zoomAt(by, (svg.current?.clientWidth ?? 0) / 2, (svg.current?.clientHeight ?? 0) / 2),
      zoomAt,
      fit() {
        at.isFollowing = true;
        follow();
      },
      follow,
      keep() {
        at.isFollowing = false;
      },
      pan(event: PointerEvent) {
        const element = svg.current;
        if (!element || event.button !== 0) return;
        pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
        if (pointers.size > 1) return;
        const move = (moved: PointerEvent) => {
          const before = pointers.get(moved.pointerId);
          if (!before) return;
          const other = [...pointers].find(([id]) => id !== moved.pointerId)?.[1];
          at.isFollowing = false;
          if (other) {
            // Two fingers: what is between them stays there.
            const box = element.getBoundingClientRect();
            const by = Math.hypot(moved.clientX - other.x, moved.clientY - other.y) / (Math.hypot(before.x - other.x, before.y - other.y) || 1);
            zoomAt(by, (moved.clientX + other.x) / 2 - box.left, (moved.clientY + other.y) / 2 - box.top);
          } else {
            at.x += moved.clientX - before.x;
            at.y += moved.clientY - before.y;
            show();
          }
          pointers.set(moved.pointerId, { x: moved.clientX, y: moved.clientY });
        };
        const end = (ended: PointerEvent) => {
          pointers.delete(ended.pointerId);
          if (pointers.size > 0) return;
          removeEventListener('pointermove', move);
          removeEventListener('pointerup', end);
          removeEventListener('pointercancel', end);
        };
        addEventListener('pointermove', move);
        addEventListener('pointerup', end);
        addEventListener('pointercancel', end);
      },
    };
  }, []);

  useEffect(() => {
    const element = svg.current;
    if (!element) return;
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const box = element.getBoundingClientRect();
      camera.zoomAt(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0016)), event.clientX - box.left, event.clientY - box.top);
    };
    // The page must not scroll meanwhile, which only such a listener can prevent.
    element.addEventListener('wheel', wheel, { passive: false });
    const observer = new ResizeObserver(camera.follow);
    observer.observe(element);
    // Another window is another look; a pane that opens beside it is not.
    addEventListener('resize', camera.fit);
    return () => {
      removeEventListener('resize', camera.fit);
      element.removeEventListener('wheel', wheel);
      observer.disconnect();
    };
  }, []);
  return camera;
}
