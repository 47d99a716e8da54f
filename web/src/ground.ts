/**
 * The floor: a grid of 1 m squares drawn per pixel, which keeps all lines visible near the camera, and the shadows on
 * it.
 */
import * as THREE from "three";

const SIZE = 160;

const VERTEX = `
varying vec3 place;
void main() {
  vec4 world = modelMatrix * vec4(position, 1.0);
  place = world.xyz;
  gl_Position = projectionMatrix * viewMatrix * world;
}`;

const FRAGMENT = `
varying vec3 place;
uniform vec3 thin;
uniform vec3 strong;
// Fraction of a pixel that is covered by the lines of squares of this size; 0 where squares are as small as pixels.
float lines(float size) {
  vec2 at = place.xz / size;
  vec2 width = fwidth(at);
  vec2 away = abs(fract(at - 0.5) - 0.5) / width;
  return (1.0 - min(min(away.x, away.y), 1.0)) * (1.0 - smoothstep(0.15, 0.5, max(width.x, width.y)));
}
void main() {
  float fine = lines(1.0);
  float coarse = lines(5.0);
  float fade = 1.0 - smoothstep(15.0, 60.0, distance(place, cameraPosition));
  gl_FragColor = vec4(mix(thin, strong, coarse), max(fine, coarse) * fade);
  #include <colorspace_fragment>
}`;

/** @param reach width in meters of the square that receives shadows, which take much longer to draw than the grid */
export function makeGround(thin: string, strong: string, reach: number): THREE.Group {
  const plane = new THREE.PlaneGeometry(SIZE, SIZE).rotateX(-Math.PI / 2);
  const grid = new THREE.Mesh(plane, new THREE.ShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    uniforms: { thin: { value: new THREE.Color(thin) }, strong: { value: new THREE.Color(strong) } },
    transparent: true,
    depthWrite: false,
    side: THREE.DoubleSide,
  }));
  grid.renderOrder = -2;
  const group = new THREE.Group();
  group.add(grid);
  if (reach) {
    const near = new THREE.PlaneGeometry(reach, reach).rotateX(-Math.PI / 2);
    const shadow = new THREE.Mesh(near, new THREE.ShadowMaterial({ opacity: 0.22, depthWrite: false }));
    shadow.receiveShadow = true;
    // Both planes lie in the floor and write no depth, so the render order decides which is on top.
    shadow.renderOrder = -1;
    group.add(shadow);
  }
  return group;
}
