// Divides the places of a side into ranges of equal size, which are processed one at a time.

export class Buckets {
  /** In places; a power of two. */
  readonly size: number;
  readonly count: number;

  constructor(places: number) {
    let size = smallest;
    while (places / size >= most) size *= 2;
    this.size = size;
    this.count = Math.floor(places / size) + 1;
  }

  of(place: number): number {
    return Math.floor(place / this.size);
  }
}

const smallest = 4096;
const most = 255;
