//! Rings in the coordinates of SVG: parts of the ring become angles, clockwise from the top.

export interface Point {
  x: number;
  y: number;
}

/** Returns a point on a circle around the origin, at a part of the way round. */
export function pointAt(radius: number, part: number): Point {
  const angle = (part - 0.25) * 2 * Math.PI;
  return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
}

/** Returns the path of a piece of a ring between two radii. `gap` is left free at both ends together, in parts of the ring. */
export function sector(inner: number, outer: number, from: number, to: number, gap: number): string {
  const free = Math.min(gap, (to - from) / 2) / 2;
  if (to - from >= 1) return `${circle(outer)} ${circle(inner, true)}`;
  const [start, end] = [from + free, to - free];
  const large = end - start > 0.5 ? 1 : 0;
  const at = (radius: number, part: number) => {
    const { x, y } = pointAt(radius, part);
    return `${x.toFixed(2)} ${y.toFixed(2)}`;
  };
  return [
    `M ${at(outer, start)}`,
    `A ${outer} ${outer} 0 ${large} 1 ${at(outer, end)}`,
    `L ${at(inner, end)}`,
    `A ${inner} ${inner} 0 ${large} 0 ${at(inner, start)}`,
    'Z',
  ].join(' ');
}

function circle(radius: number, isReversed = false): string {
  const sweep = isReversed ? 0 : 1;
  return `M 0 ${-radius} A ${radius} ${radius} 0 1 ${sweep} 0 ${radius} A ${radius} ${radius} 0 1 ${sweep} 0 ${-radius} Z`;
}
