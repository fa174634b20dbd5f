//! What a renderer makes once, and its frame, in one command encoder. The host reads nothing of it:
//!
//!     turn      compute   the particles move
//!     depths    compute   depth and number of each particle in front of the camera, and how many there are
//!     sort      compute   farthest first; this is what `sweepsort-wgpu` is for
//!     draw      render    an instance for each, in that order, blended over what is behind it

use std::error::Error;
use std::sync::mpsc;

use sweepsort_wgpu::{Adapter, Bound, Buffers, Kernels, Order, Plan, Shape, Spec, Width};
use wgpu::BufferUsages as Usage;
use wgpu::util::{BufferInitDescriptor, DeviceExt, DownloadBuffer};

/// Place and radius; colour and opacity.
pub type Particle = [[f32; 4]; 2];

/// What is nearer to the camera is not drawn.
pub const NEAR: f32 = 0.05;

/// Threads of a workgroup of the compute shaders.
const THREADS: u32 = 256;

/// What particles turn about: where it is, and how far it leans towards the camera, in radians.
pub const CENTRE: [f32; 3] = [0.0, 0.25, 1.0];
pub const TILT: f32 = 0.7;

/// Byte of the draw call's arguments that the number of instances begins at.
const INSTANCES: u64 = 4;

/// Width and height in pixels.
pub type Size = (u32, u32);

/// All that a renderer makes once.
pub struct Scene {
    device: wgpu::Device,
    queue: wgpu::Queue,
    particles: wgpu::Buffer,
    /// The arguments of the draw call, with the number of particles to be sorted and drawn.
    draw_call: wgpu::Buffer,
    groups: u32,
    turn: (wgpu::ComputePipeline, wgpu::BindGroup),
    depths: (wgpu::ComputePipeline, wgpu::BindGroup),
    sort: Bound,
    draw: (wgpu::RenderPipeline, wgpu::BindGroup),
    target: wgpu::Texture,
}

impl Scene {
    pub fn new(
        adapter: &Adapter,
        particles: &[Particle],
        size: Size,
    ) -> Result<Scene, Box<dyn Error>> {
        let count = particles.len() as u32;
        // The device is the renderer's own. Subgroups make the sort faster, but are not needed.
        let (device, queue) =
            pollster::block_on(adapter.wgpu().request_device(&wgpu::DeviceDescriptor {
                required_features: adapter.wgpu().features() & wgpu::Features::SUBGROUP,
                required_limits: adapter.wgpu().limits(),
                ..Default::default()
            }))?;
        let buffer = |size: u64, usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        let filled = |contents: &[u8], usage| {
            device.create_buffer_init(&BufferInitDescriptor {
                label: None,
                contents,
                usage,
            })
        };
        let particles = filled(
            bytemuck::cast_slice(particles),
            Usage::STORAGE | Usage::COPY_SRC,
        );
        let depths = buffer(4 * u64::from(count), Usage::STORAGE);
        let order = buffer(4 * u64::from(count), Usage::STORAGE);
        // A quad's four corners, no instance yet.
        let draw_call = filled(
            bytemuck::cast_slice(&[4u32, 0, 0, 0]),
            Usage::STORAGE | Usage::INDIRECT | Usage::COPY_SRC | Usage::COPY_DST,
        );

        // The plan is for all particles; how many there really are is read from the draw call's arguments.
        let mut farthest_first = Spec::natural::<f32>();
        farthest_first.codec.order = Order::Descending;
        let shape = Shape::pairs(count as usize, Width::W32, 4);
        let plan = Plan::new(&Kernels::new(&device), &shape, &farthest_first)?;
        let workspace = buffer(plan.workspace_bytes(), Plan::WORKSPACE_USAGE);
        let sort = plan.bind(&Buffers {
            keys: depths.slice(..),
            values: Some(order.slice(..)),
            count: Some((&draw_call, INSTANCES)),
            workspace: workspace.slice(..),
        })?;

        let target = device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d {
                width: size.0,
                height: size.1,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let compute = |text, constants: &[(&str, f64)], buffers: &[&wgpu::Buffer]| {
            let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: None,
                layout: None,
                module: &shader(&device, text),
                entry_point: None,
                compilation_options: options(constants),
                cache: None,
            });
            let group = group(&device, &pipeline.get_bind_group_layout(0), buffers);
            (pipeline, group)
        };
        let turn = compute(
            include_str!("turn.wgsl"),
            &[
                ("CENTRE_Y", CENTRE[1].into()),
                ("CENTRE_Z", CENTRE[2].into()),
                ("TILT", TILT.into()),
            ],
            &[&particles],
        );
        let project = compute(
            include_str!("depths.wgsl"),
            &[("NEAR", NEAR.into())],
            &[&particles, &depths, &order, &draw_call],
        );
        let pipeline = blending(&device, target.format(), size);
        let layout = pipeline.get_bind_group_layout(0);
        let group = group(&device, &layout, &[&particles, &order]);
        Ok(Scene {
            groups: count.div_ceil(THREADS),
            turn,
            depths: project,
            sort,
            draw: (pipeline, group),
            target,
            particles,
            draw_call,
            device,
            queue,
        })
    }

    /// A frame, from the particles' motion to the picture: one encoder, one submission, no wait.
    pub fn frame(&self) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.clear_buffer(&self.draw_call, INSTANCES, Some(4));
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for (pipeline, group) in [&self.turn, &self.depths] {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(self.groups, 1, 1);
        }
        drop(pass);

        self.sort.encode(&mut encoder);

        let view = self.target.create_view(&Default::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..Default::default()
        });
        let (pipeline, group) = &self.draw;
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.draw_indirect(&self.draw_call, 0);
        drop(pass);
        self.queue.submit([encoder.finish()]);
    }

    /// The last frame, row by row, four bytes a pixel.
    pub fn picture(&self) -> Result<Vec<u8>, Box<dyn Error>> {
        let bytes = 4 * self.target.width();
        let padded = bytes.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let rows = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(padded * self.target.height()),
            usage: Usage::COPY_DST | Usage::COPY_SRC,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(padded),
            rows_per_image: None,
        };
        let to = wgpu::TexelCopyBufferInfo {
            buffer: &rows,
            layout,
        };
        encoder.copy_texture_to_buffer(self.target.as_image_copy(), to, self.target.size());
        self.queue.submit([encoder.finish()]);
        let rows = self.read(rows.slice(..))?;
        let rows = rows.chunks_exact(padded as usize);
        Ok(rows
            .flat_map(|row| row[..bytes as usize].to_vec())
            .collect())
    }

    /// How many particles are in front of the camera.
    pub fn visible(&self) -> Result<u32, Box<dyn Error>> {
        let bytes = self.read(self.draw_call.slice(INSTANCES..INSTANCES + 4))?;
        Ok(bytemuck::pod_read_unaligned(&bytes))
    }

    /// The particles, as they are in the last frame.
    #[allow(dead_code, reason = "the test compares the picture with them")]
    pub fn particles(&self) -> Result<Vec<Particle>, Box<dyn Error>> {
        Ok(bytemuck::pod_collect_to_vec(
            &self.read(self.particles.slice(..))?,
        ))
    }

    /// Waits for the frames so far, and reads what they have left in a buffer.
    fn read(&self, from: wgpu::BufferSlice<'_>) -> Result<Vec<u8>, Box<dyn Error>> {
        let (sender, receiver) = mpsc::channel();
        DownloadBuffer::read_buffer(&self.device, &self.queue, &from, move |read| {
            // The receiver is there until the wait below has ended.
            let _ = sender.send(read.map(|bytes| bytes.to_vec()));
        });
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(receiver.recv()??)
    }
}

/// The pipeline that draws quads, each blended over what is there.
fn blending(
    device: &wgpu::Device,
    format: wgpu::TextureFormat,
    size: Size,
) -> wgpu::RenderPipeline {
    let module = shader(device, include_str!("draw.wgsl"));
    let aspect = [("ASPECT", f64::from(size.0) / f64::from(size.1))];
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: None,
            compilation_options: options(&aspect),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState {
            topology: wgpu::PrimitiveTopology::TriangleStrip,
            ..Default::default()
        },
        depth_stencil: None,
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: None,
            compilation_options: options(&aspect),
            targets: &[Some(wgpu::ColorTargetState {
                format,
                blend: Some(wgpu::BlendState::ALPHA_BLENDING),
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn shader(device: &wgpu::Device, text: &str) -> wgpu::ShaderModule {
    device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl([include_str!("particle.wgsl"), text].concat().into()),
    })
}

fn options<'a>(constants: &'a [(&'a str, f64)]) -> wgpu::PipelineCompilationOptions<'a> {
    wgpu::PipelineCompilationOptions {
        constants,
        ..Default::default()
    }
}

/// Buffers at bindings 0, 1 and so on.
fn group(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    buffers: &[&wgpu::Buffer],
) -> wgpu::BindGroup {
    let entries: Vec<_> = (0..)
        .zip(buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry {
            binding,
            resource: buffer.as_entire_binding(),
        })
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout,
        entries: &entries,
    })
}
